; neon
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = getelementptr i64, ptr %".2", i64 1
  %".10" = load i64, ptr %".9"
  %".11" = getelementptr i64, ptr %".2", i64 2
  %".12" = load i64, ptr %".11"
  %".13" = urem i64 %".4", %".10"
  %".14" = udiv i64 %".4", %".10"
  %".15" = urem i64 %".14", %".8"
  %".16" = udiv i64 %".14", %".8"
  %".17" = getelementptr ptr, ptr %".1", i64 0
  %".18" = load ptr, ptr %".17"
  %".19" = getelementptr ptr, ptr %".1", i64 1
  %".20" = load ptr, ptr %".19"
  %".21" = getelementptr ptr, ptr %".1", i64 2
  %".22" = load ptr, ptr %".21"
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".218", %"done.2"]
  %".24" = icmp slt i64 %"i", %".12"
  br i1 %".24", label %"body", label %"done"
body:
  %".26" = trunc i64 %".15" to i32
  %".27" = trunc i64 %".13" to i32
  %".28" = trunc i64 %"i" to i32
  %".29" = trunc i64 %".8" to i32
  %".30" = trunc i64 %".10" to i32
  %".31" = trunc i64 %".12" to i32
  %".32" = trunc i64 %".15" to i32
  %".33" = trunc i64 %".13" to i32
  %".34" = trunc i64 %"i" to i32
  %".35" = sext i32 %".32" to i64
  %".36" = mul i64 %".35", 4
  %".37" = sext i32 %".34" to i64
  %".38" = mul i64 %".37", 8
  %".39" = mul i64 %".36", 16
  %".40" = add i64 %".39", %".38"
  %".41" = getelementptr float, ptr %".18", i64 %".40"
  %".42" = trunc i64 %".15" to i32
  %".43" = trunc i64 %".13" to i32
  %".44" = trunc i64 %"i" to i32
  %".45" = sext i32 %".44" to i64
  %".46" = mul i64 %".45", 8
  %".47" = sext i32 %".43" to i64
  %".48" = mul i64 %".47", 6
  %".49" = mul i64 %".46", 12
  %".50" = add i64 %".49", %".48"
  %".51" = getelementptr float, ptr %".20", i64 %".50"
  %".52" = trunc i64 %".15" to i32
  %".53" = trunc i64 %".13" to i32
  %".54" = trunc i64 %"i" to i32
  %".55" = sext i32 %".52" to i64
  %".56" = mul i64 %".55", 4
  %".57" = sext i32 %".53" to i64
  %".58" = mul i64 %".57", 6
  %".59" = mul i64 %".56", 12
  %".60" = add i64 %".59", %".58"
  %".61" = getelementptr float, ptr %".22", i64 %".60"
  %".62" = icmp eq i32 %".28", 0
  %".63" = zext i1 %".62" to i32
  %".64" = sext i32 %".63" to i64
  %".65" = icmp slt i64 %".64", 0
  %".66" = select  i1 %".65", i64 0, i64 %".64"
  switch i64 %".66", label %"case.1" [i64 0, label %"case.0"]
done:
  ret void
switch.done:
  %".86" = getelementptr i8, ptr %".3", i64 0
  br label %"loop.2"
case.0:
  br label %"switch.done"
case.1:
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [0, %"case.1"], [%".83", %"body.1"]
  %".70" = icmp slt i64 %"i.1", 4
  br i1 %".70", label %"body.1", label %"done.1"
body.1:
  %".72" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".73" = shufflevector <4 x float> %".72", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".74" = mul i64 %"i.1", 12
  %".75" = getelementptr inbounds float, ptr %".61", i64 %".74"
  store <4 x float> %".73", ptr %".75", align 4
  %".77" = insertelement <2 x float> <float undef, float undef>, float              0x0, i32 0
  %".78" = shufflevector <2 x float> %".77", <2 x float> <float undef, float undef>, <2 x i32> splat (i32 0)
  %".79" = mul i64 %"i.1", 12
  %".80" = add i64 %".79", 4
  %".81" = getelementptr inbounds float, ptr %".61", i64 %".80"
  store <2 x float> %".78", ptr %".81", align 4
  %".83" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  br label %"switch.done"
loop.2:
  %"i.2" = phi  i64 [0, %"switch.done"], [%".216", %"k.done"]
  %".88" = icmp slt i64 %"i.2", 6
  br i1 %".88", label %"body.2", label %"done.2"
body.2:
  %".90" = getelementptr inbounds float, ptr %".61", i64 %"i.2"
  call void @"llvm.prefetch.p0"(ptr %".90", i32 0, i32 3, i32 1)
  %".92" = add i64 12, %"i.2"
  %".93" = getelementptr inbounds float, ptr %".61", i64 %".92"
  call void @"llvm.prefetch.p0"(ptr %".93", i32 0, i32 3, i32 1)
  %".95" = add i64 24, %"i.2"
  %".96" = getelementptr inbounds float, ptr %".61", i64 %".95"
  call void @"llvm.prefetch.p0"(ptr %".96", i32 0, i32 3, i32 1)
  %".98" = add i64 36, %"i.2"
  %".99" = getelementptr inbounds float, ptr %".61", i64 %".98"
  call void @"llvm.prefetch.p0"(ptr %".99", i32 0, i32 3, i32 1)
  br label %"k"
done.2:
  %".218" = add i64 %"i", 1
  br label %"loop"
k:
  %".102" = phi  i64 [0, %"body.2"], [%".150", %"k.body"]
  %".103" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".127", %"k.body"]
  %".104" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".128", %"k.body"]
  %".105" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".134", %"k.body"]
  %".106" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".135", %"k.body"]
  %".107" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".141", %"k.body"]
  %".108" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".142", %"k.body"]
  %".109" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".148", %"k.body"]
  %".110" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".149", %"k.body"]
  %".111" = icmp slt i64 %".102", 8
  br i1 %".111", label %"k.body", label %"k.done"
k.body:
  %".113" = mul i64 %".102", 12
  %".114" = add i64 %".113", %"i.2"
  %".115" = getelementptr inbounds float, ptr %".51", i64 %".114"
  %".116" = load <4 x float>, ptr %".115", align 4
  %".117" = add i64 %"i.2", 4
  %".118" = mul i64 %".102", 12
  %".119" = add i64 %".118", %".117"
  %".120" = getelementptr inbounds float, ptr %".51", i64 %".119"
  %".121" = load <2 x float>, ptr %".120", align 4
  %".122" = shufflevector <2 x float> %".121", <2 x float> splat (float              0x0), <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".123" = getelementptr inbounds float, ptr %".41", i64 %".102"
  %".124" = load float, ptr %".123", align 4
  %".125" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".124", i32 0
  %".126" = shufflevector <4 x float> %".125", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".127" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".126", <4 x float> %".116", <4 x float> %".103")
  %".128" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".126", <4 x float> %".122", <4 x float> %".104")
  %".129" = add i64 16, %".102"
  %".130" = getelementptr inbounds float, ptr %".41", i64 %".129"
  %".131" = load float, ptr %".130", align 4
  %".132" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".131", i32 0
  %".133" = shufflevector <4 x float> %".132", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".134" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".133", <4 x float> %".116", <4 x float> %".105")
  %".135" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".133", <4 x float> %".122", <4 x float> %".106")
  %".136" = add i64 32, %".102"
  %".137" = getelementptr inbounds float, ptr %".41", i64 %".136"
  %".138" = load float, ptr %".137", align 4
  %".139" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".138", i32 0
  %".140" = shufflevector <4 x float> %".139", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".141" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".140", <4 x float> %".116", <4 x float> %".107")
  %".142" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".140", <4 x float> %".122", <4 x float> %".108")
  %".143" = add i64 48, %".102"
  %".144" = getelementptr inbounds float, ptr %".41", i64 %".143"
  %".145" = load float, ptr %".144", align 4
  %".146" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".145", i32 0
  %".147" = shufflevector <4 x float> %".146", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".148" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".147", <4 x float> %".116", <4 x float> %".109")
  %".149" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".147", <4 x float> %".122", <4 x float> %".110")
  %".150" = add i64 %".102", 1
  br label %"k"
k.done:
  %".152" = getelementptr inbounds float, ptr %".61", i64 %"i.2"
  %".153" = load <4 x float>, ptr %".152", align 4
  %".154" = fadd <4 x float> %".153", %".103"
  %".155" = getelementptr inbounds float, ptr %".61", i64 %"i.2"
  store <4 x float> %".154", ptr %".155", align 4
  %".157" = add i64 %"i.2", 4
  %".158" = getelementptr inbounds float, ptr %".61", i64 %".157"
  %".159" = load <2 x float>, ptr %".158", align 4
  %".160" = shufflevector <2 x float> %".159", <2 x float> splat (float              0x0), <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".161" = fadd <4 x float> %".160", %".104"
  %".162" = add i64 %"i.2", 4
  %".163" = getelementptr inbounds float, ptr %".61", i64 %".162"
  call void @"llvm.masked.store.v4f32.p0"(<4 x float> %".161", ptr %".163", i32 4, <4 x i1> <i1 1, i1 1, i1 0, i1 0>)
  %".165" = add i64 12, %"i.2"
  %".166" = getelementptr inbounds float, ptr %".61", i64 %".165"
  %".167" = load <4 x float>, ptr %".166", align 4
  %".168" = fadd <4 x float> %".167", %".105"
  %".169" = add i64 12, %"i.2"
  %".170" = getelementptr inbounds float, ptr %".61", i64 %".169"
  store <4 x float> %".168", ptr %".170", align 4
  %".172" = add i64 %"i.2", 4
  %".173" = add i64 12, %".172"
  %".174" = getelementptr inbounds float, ptr %".61", i64 %".173"
  %".175" = load <2 x float>, ptr %".174", align 4
  %".176" = shufflevector <2 x float> %".175", <2 x float> splat (float              0x0), <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".177" = fadd <4 x float> %".176", %".106"
  %".178" = add i64 %"i.2", 4
  %".179" = add i64 12, %".178"
  %".180" = getelementptr inbounds float, ptr %".61", i64 %".179"
  call void @"llvm.masked.store.v4f32.p0"(<4 x float> %".177", ptr %".180", i32 4, <4 x i1> <i1 1, i1 1, i1 0, i1 0>)
  %".182" = add i64 24, %"i.2"
  %".183" = getelementptr inbounds float, ptr %".61", i64 %".182"
  %".184" = load <4 x float>, ptr %".183", align 4
  %".185" = fadd <4 x float> %".184", %".107"
  %".186" = add i64 24, %"i.2"
  %".187" = getelementptr inbounds float, ptr %".61", i64 %".186"
  store <4 x float> %".185", ptr %".187", align 4
  %".189" = add i64 %"i.2", 4
  %".190" = add i64 24, %".189"
  %".191" = getelementptr inbounds float, ptr %".61", i64 %".190"
  %".192" = load <2 x float>, ptr %".191", align 4
  %".193" = shufflevector <2 x float> %".192", <2 x float> splat (float              0x0), <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".194" = fadd <4 x float> %".193", %".108"
  %".195" = add i64 %"i.2", 4
  %".196" = add i64 24, %".195"
  %".197" = getelementptr inbounds float, ptr %".61", i64 %".196"
  call void @"llvm.masked.store.v4f32.p0"(<4 x float> %".194", ptr %".197", i32 4, <4 x i1> <i1 1, i1 1, i1 0, i1 0>)
  %".199" = add i64 36, %"i.2"
  %".200" = getelementptr inbounds float, ptr %".61", i64 %".199"
  %".201" = load <4 x float>, ptr %".200", align 4
  %".202" = fadd <4 x float> %".201", %".109"
  %".203" = add i64 36, %"i.2"
  %".204" = getelementptr inbounds float, ptr %".61", i64 %".203"
  store <4 x float> %".202", ptr %".204", align 4
  %".206" = add i64 %"i.2", 4
  %".207" = add i64 36, %".206"
  %".208" = getelementptr inbounds float, ptr %".61", i64 %".207"
  %".209" = load <2 x float>, ptr %".208", align 4
  %".210" = shufflevector <2 x float> %".209", <2 x float> splat (float              0x0), <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".211" = fadd <4 x float> %".210", %".110"
  %".212" = add i64 %"i.2", 4
  %".213" = add i64 36, %".212"
  %".214" = getelementptr inbounds float, ptr %".61", i64 %".213"
  call void @"llvm.masked.store.v4f32.p0"(<4 x float> %".211", ptr %".214", i32 4, <4 x i1> <i1 1, i1 1, i1 0, i1 0>)
  %".216" = add i64 %"i.2", 6
  br label %"loop.2"
}
