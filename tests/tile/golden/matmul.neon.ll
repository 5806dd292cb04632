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
  %".15" = getelementptr ptr, ptr %".1", i64 0
  %".16" = load ptr, ptr %".15"
  %".17" = getelementptr ptr, ptr %".1", i64 1
  %".18" = load ptr, ptr %".17"
  %".19" = getelementptr ptr, ptr %".1", i64 2
  %".20" = load ptr, ptr %".19"
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".216", %"done.2"]
  %".22" = icmp slt i64 %"i", %".12"
  br i1 %".22", label %"body", label %"done"
body:
  %".24" = trunc i64 %".14" to i32
  %".25" = trunc i64 %".13" to i32
  %".26" = trunc i64 %"i" to i32
  %".27" = trunc i64 %".8" to i32
  %".28" = trunc i64 %".10" to i32
  %".29" = trunc i64 %".12" to i32
  %".30" = trunc i64 %".14" to i32
  %".31" = trunc i64 %".13" to i32
  %".32" = trunc i64 %"i" to i32
  %".33" = sext i32 %".30" to i64
  %".34" = mul i64 %".33", 4
  %".35" = sext i32 %".32" to i64
  %".36" = mul i64 %".35", 8
  %".37" = mul i64 %".34", 16
  %".38" = add i64 %".37", %".36"
  %".39" = getelementptr float, ptr %".16", i64 %".38"
  %".40" = trunc i64 %".14" to i32
  %".41" = trunc i64 %".13" to i32
  %".42" = trunc i64 %"i" to i32
  %".43" = sext i32 %".42" to i64
  %".44" = mul i64 %".43", 8
  %".45" = sext i32 %".41" to i64
  %".46" = mul i64 %".45", 6
  %".47" = mul i64 %".44", 12
  %".48" = add i64 %".47", %".46"
  %".49" = getelementptr float, ptr %".18", i64 %".48"
  %".50" = trunc i64 %".14" to i32
  %".51" = trunc i64 %".13" to i32
  %".52" = trunc i64 %"i" to i32
  %".53" = sext i32 %".50" to i64
  %".54" = mul i64 %".53", 4
  %".55" = sext i32 %".51" to i64
  %".56" = mul i64 %".55", 6
  %".57" = mul i64 %".54", 12
  %".58" = add i64 %".57", %".56"
  %".59" = getelementptr float, ptr %".20", i64 %".58"
  %".60" = icmp eq i32 %".26", 0
  %".61" = zext i1 %".60" to i32
  %".62" = sext i32 %".61" to i64
  %".63" = icmp slt i64 %".62", 0
  %".64" = select  i1 %".63", i64 0, i64 %".62"
  switch i64 %".64", label %"case.1" [i64 0, label %"case.0"]
done:
  ret void
switch.done:
  %".84" = getelementptr i8, ptr %".3", i64 0
  br label %"loop.2"
case.0:
  br label %"switch.done"
case.1:
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [0, %"case.1"], [%".81", %"body.1"]
  %".68" = icmp slt i64 %"i.1", 4
  br i1 %".68", label %"body.1", label %"done.1"
body.1:
  %".70" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".71" = shufflevector <4 x float> %".70", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".72" = mul i64 %"i.1", 12
  %".73" = getelementptr inbounds float, ptr %".59", i64 %".72"
  store <4 x float> %".71", ptr %".73", align 4
  %".75" = insertelement <2 x float> <float undef, float undef>, float              0x0, i32 0
  %".76" = shufflevector <2 x float> %".75", <2 x float> <float undef, float undef>, <2 x i32> splat (i32 0)
  %".77" = mul i64 %"i.1", 12
  %".78" = add i64 %".77", 4
  %".79" = getelementptr inbounds float, ptr %".59", i64 %".78"
  store <2 x float> %".76", ptr %".79", align 4
  %".81" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  br label %"switch.done"
loop.2:
  %"i.2" = phi  i64 [0, %"switch.done"], [%".214", %"k.done"]
  %".86" = icmp slt i64 %"i.2", 6
  br i1 %".86", label %"body.2", label %"done.2"
body.2:
  %".88" = getelementptr inbounds float, ptr %".59", i64 %"i.2"
  call void @"llvm.prefetch.p0"(ptr %".88", i32 0, i32 3, i32 1)
  %".90" = add i64 12, %"i.2"
  %".91" = getelementptr inbounds float, ptr %".59", i64 %".90"
  call void @"llvm.prefetch.p0"(ptr %".91", i32 0, i32 3, i32 1)
  %".93" = add i64 24, %"i.2"
  %".94" = getelementptr inbounds float, ptr %".59", i64 %".93"
  call void @"llvm.prefetch.p0"(ptr %".94", i32 0, i32 3, i32 1)
  %".96" = add i64 36, %"i.2"
  %".97" = getelementptr inbounds float, ptr %".59", i64 %".96"
  call void @"llvm.prefetch.p0"(ptr %".97", i32 0, i32 3, i32 1)
  br label %"k"
done.2:
  %".216" = add i64 %"i", 1
  br label %"loop"
k:
  %".100" = phi  i64 [0, %"body.2"], [%".148", %"k.body"]
  %".101" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".125", %"k.body"]
  %".102" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".126", %"k.body"]
  %".103" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".132", %"k.body"]
  %".104" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".133", %"k.body"]
  %".105" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".139", %"k.body"]
  %".106" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".140", %"k.body"]
  %".107" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".146", %"k.body"]
  %".108" = phi  <4 x float> [splat (float              0x0), %"body.2"], [%".147", %"k.body"]
  %".109" = icmp slt i64 %".100", 8
  br i1 %".109", label %"k.body", label %"k.done"
k.body:
  %".111" = mul i64 %".100", 12
  %".112" = add i64 %".111", %"i.2"
  %".113" = getelementptr inbounds float, ptr %".49", i64 %".112"
  %".114" = load <4 x float>, ptr %".113", align 4
  %".115" = add i64 %"i.2", 4
  %".116" = mul i64 %".100", 12
  %".117" = add i64 %".116", %".115"
  %".118" = getelementptr inbounds float, ptr %".49", i64 %".117"
  %".119" = load <2 x float>, ptr %".118", align 4
  %".120" = shufflevector <2 x float> %".119", <2 x float> splat (float              0x0), <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".121" = getelementptr inbounds float, ptr %".39", i64 %".100"
  %".122" = load float, ptr %".121", align 4
  %".123" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".122", i32 0
  %".124" = shufflevector <4 x float> %".123", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".125" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".124", <4 x float> %".114", <4 x float> %".101")
  %".126" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".124", <4 x float> %".120", <4 x float> %".102")
  %".127" = add i64 16, %".100"
  %".128" = getelementptr inbounds float, ptr %".39", i64 %".127"
  %".129" = load float, ptr %".128", align 4
  %".130" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".129", i32 0
  %".131" = shufflevector <4 x float> %".130", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".132" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".131", <4 x float> %".114", <4 x float> %".103")
  %".133" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".131", <4 x float> %".120", <4 x float> %".104")
  %".134" = add i64 32, %".100"
  %".135" = getelementptr inbounds float, ptr %".39", i64 %".134"
  %".136" = load float, ptr %".135", align 4
  %".137" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".136", i32 0
  %".138" = shufflevector <4 x float> %".137", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".139" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".138", <4 x float> %".114", <4 x float> %".105")
  %".140" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".138", <4 x float> %".120", <4 x float> %".106")
  %".141" = add i64 48, %".100"
  %".142" = getelementptr inbounds float, ptr %".39", i64 %".141"
  %".143" = load float, ptr %".142", align 4
  %".144" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".143", i32 0
  %".145" = shufflevector <4 x float> %".144", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".146" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".145", <4 x float> %".114", <4 x float> %".107")
  %".147" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".145", <4 x float> %".120", <4 x float> %".108")
  %".148" = add i64 %".100", 1
  br label %"k"
k.done:
  %".150" = getelementptr inbounds float, ptr %".59", i64 %"i.2"
  %".151" = load <4 x float>, ptr %".150", align 4
  %".152" = fadd <4 x float> %".151", %".101"
  %".153" = getelementptr inbounds float, ptr %".59", i64 %"i.2"
  store <4 x float> %".152", ptr %".153", align 4
  %".155" = add i64 %"i.2", 4
  %".156" = getelementptr inbounds float, ptr %".59", i64 %".155"
  %".157" = load <2 x float>, ptr %".156", align 4
  %".158" = shufflevector <2 x float> %".157", <2 x float> splat (float              0x0), <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".159" = fadd <4 x float> %".158", %".102"
  %".160" = add i64 %"i.2", 4
  %".161" = getelementptr inbounds float, ptr %".59", i64 %".160"
  call void @"llvm.masked.store.v4f32.p0"(<4 x float> %".159", ptr %".161", i32 4, <4 x i1> <i1 1, i1 1, i1 0, i1 0>)
  %".163" = add i64 12, %"i.2"
  %".164" = getelementptr inbounds float, ptr %".59", i64 %".163"
  %".165" = load <4 x float>, ptr %".164", align 4
  %".166" = fadd <4 x float> %".165", %".103"
  %".167" = add i64 12, %"i.2"
  %".168" = getelementptr inbounds float, ptr %".59", i64 %".167"
  store <4 x float> %".166", ptr %".168", align 4
  %".170" = add i64 %"i.2", 4
  %".171" = add i64 12, %".170"
  %".172" = getelementptr inbounds float, ptr %".59", i64 %".171"
  %".173" = load <2 x float>, ptr %".172", align 4
  %".174" = shufflevector <2 x float> %".173", <2 x float> splat (float              0x0), <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".175" = fadd <4 x float> %".174", %".104"
  %".176" = add i64 %"i.2", 4
  %".177" = add i64 12, %".176"
  %".178" = getelementptr inbounds float, ptr %".59", i64 %".177"
  call void @"llvm.masked.store.v4f32.p0"(<4 x float> %".175", ptr %".178", i32 4, <4 x i1> <i1 1, i1 1, i1 0, i1 0>)
  %".180" = add i64 24, %"i.2"
  %".181" = getelementptr inbounds float, ptr %".59", i64 %".180"
  %".182" = load <4 x float>, ptr %".181", align 4
  %".183" = fadd <4 x float> %".182", %".105"
  %".184" = add i64 24, %"i.2"
  %".185" = getelementptr inbounds float, ptr %".59", i64 %".184"
  store <4 x float> %".183", ptr %".185", align 4
  %".187" = add i64 %"i.2", 4
  %".188" = add i64 24, %".187"
  %".189" = getelementptr inbounds float, ptr %".59", i64 %".188"
  %".190" = load <2 x float>, ptr %".189", align 4
  %".191" = shufflevector <2 x float> %".190", <2 x float> splat (float              0x0), <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".192" = fadd <4 x float> %".191", %".106"
  %".193" = add i64 %"i.2", 4
  %".194" = add i64 24, %".193"
  %".195" = getelementptr inbounds float, ptr %".59", i64 %".194"
  call void @"llvm.masked.store.v4f32.p0"(<4 x float> %".192", ptr %".195", i32 4, <4 x i1> <i1 1, i1 1, i1 0, i1 0>)
  %".197" = add i64 36, %"i.2"
  %".198" = getelementptr inbounds float, ptr %".59", i64 %".197"
  %".199" = load <4 x float>, ptr %".198", align 4
  %".200" = fadd <4 x float> %".199", %".107"
  %".201" = add i64 36, %"i.2"
  %".202" = getelementptr inbounds float, ptr %".59", i64 %".201"
  store <4 x float> %".200", ptr %".202", align 4
  %".204" = add i64 %"i.2", 4
  %".205" = add i64 36, %".204"
  %".206" = getelementptr inbounds float, ptr %".59", i64 %".205"
  %".207" = load <2 x float>, ptr %".206", align 4
  %".208" = shufflevector <2 x float> %".207", <2 x float> splat (float              0x0), <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".209" = fadd <4 x float> %".208", %".108"
  %".210" = add i64 %"i.2", 4
  %".211" = add i64 36, %".210"
  %".212" = getelementptr inbounds float, ptr %".59", i64 %".211"
  call void @"llvm.masked.store.v4f32.p0"(<4 x float> %".209", ptr %".212", i32 4, <4 x i1> <i1 1, i1 1, i1 0, i1 0>)
  %".214" = add i64 %"i.2", 6
  br label %"loop.2"
}
