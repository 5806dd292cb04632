; x86-64-v4
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
  %"i" = phi  i64 [0, %"start"], [%".165", %"done.2"]
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
  %".80" = getelementptr i8, ptr %".3", i64 0
  br label %"loop.2"
case.0:
  br label %"switch.done"
case.1:
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [0, %"case.1"], [%".77", %"body.1"]
  %".70" = icmp slt i64 %"i.1", 4
  br i1 %".70", label %"body.1", label %"done.1"
body.1:
  %".72" = insertelement <6 x float> <float undef, float undef, float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".73" = shufflevector <6 x float> %".72", <6 x float> <float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> splat (i32 0)
  %".74" = mul i64 %"i.1", 12
  %".75" = getelementptr inbounds float, ptr %".61", i64 %".74"
  store <6 x float> %".73", ptr %".75", align 4
  %".77" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  br label %"switch.done"
loop.2:
  %"i.2" = phi  i64 [0, %"switch.done"], [%".163", %"k.done"]
  %".82" = icmp slt i64 %"i.2", 6
  br i1 %".82", label %"body.2", label %"done.2"
body.2:
  %".84" = getelementptr inbounds float, ptr %".61", i64 %"i.2"
  call void @"llvm.prefetch.p0"(ptr %".84", i32 0, i32 3, i32 1)
  %".86" = add i64 12, %"i.2"
  %".87" = getelementptr inbounds float, ptr %".61", i64 %".86"
  call void @"llvm.prefetch.p0"(ptr %".87", i32 0, i32 3, i32 1)
  %".89" = add i64 24, %"i.2"
  %".90" = getelementptr inbounds float, ptr %".61", i64 %".89"
  call void @"llvm.prefetch.p0"(ptr %".90", i32 0, i32 3, i32 1)
  %".92" = add i64 36, %"i.2"
  %".93" = getelementptr inbounds float, ptr %".61", i64 %".92"
  call void @"llvm.prefetch.p0"(ptr %".93", i32 0, i32 3, i32 1)
  br label %"k"
done.2:
  %".165" = add i64 %"i", 1
  br label %"loop"
k:
  %".96" = phi  i64 [0, %"body.2"], [%".131", %"k.body"]
  %".97" = phi  <16 x float> [splat (float              0x0), %"body.2"], [%".112", %"k.body"]
  %".98" = phi  <16 x float> [splat (float              0x0), %"body.2"], [%".118", %"k.body"]
  %".99" = phi  <16 x float> [splat (float              0x0), %"body.2"], [%".124", %"k.body"]
  %".100" = phi  <16 x float> [splat (float              0x0), %"body.2"], [%".130", %"k.body"]
  %".101" = icmp slt i64 %".96", 8
  br i1 %".101", label %"k.body", label %"k.done"
k.body:
  %".103" = mul i64 %".96", 12
  %".104" = add i64 %".103", %"i.2"
  %".105" = getelementptr inbounds float, ptr %".51", i64 %".104"
  %".106" = load <6 x float>, ptr %".105", align 4
  %".107" = shufflevector <6 x float> %".106", <6 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".108" = getelementptr inbounds float, ptr %".41", i64 %".96"
  %".109" = load float, ptr %".108", align 4
  %".110" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".109", i32 0
  %".111" = shufflevector <16 x float> %".110", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".112" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".111", <16 x float> %".107", <16 x float> %".97")
  %".113" = add i64 16, %".96"
  %".114" = getelementptr inbounds float, ptr %".41", i64 %".113"
  %".115" = load float, ptr %".114", align 4
  %".116" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".115", i32 0
  %".117" = shufflevector <16 x float> %".116", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".118" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".117", <16 x float> %".107", <16 x float> %".98")
  %".119" = add i64 32, %".96"
  %".120" = getelementptr inbounds float, ptr %".41", i64 %".119"
  %".121" = load float, ptr %".120", align 4
  %".122" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".121", i32 0
  %".123" = shufflevector <16 x float> %".122", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".124" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".123", <16 x float> %".107", <16 x float> %".99")
  %".125" = add i64 48, %".96"
  %".126" = getelementptr inbounds float, ptr %".41", i64 %".125"
  %".127" = load float, ptr %".126", align 4
  %".128" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".127", i32 0
  %".129" = shufflevector <16 x float> %".128", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".130" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".129", <16 x float> %".107", <16 x float> %".100")
  %".131" = add i64 %".96", 1
  br label %"k"
k.done:
  %".133" = getelementptr inbounds float, ptr %".61", i64 %"i.2"
  %".134" = load <6 x float>, ptr %".133", align 4
  %".135" = shufflevector <6 x float> %".134", <6 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".136" = fadd <16 x float> %".135", %".97"
  %".137" = getelementptr inbounds float, ptr %".61", i64 %"i.2"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".136", ptr %".137", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".139" = add i64 12, %"i.2"
  %".140" = getelementptr inbounds float, ptr %".61", i64 %".139"
  %".141" = load <6 x float>, ptr %".140", align 4
  %".142" = shufflevector <6 x float> %".141", <6 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".143" = fadd <16 x float> %".142", %".98"
  %".144" = add i64 12, %"i.2"
  %".145" = getelementptr inbounds float, ptr %".61", i64 %".144"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".143", ptr %".145", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".147" = add i64 24, %"i.2"
  %".148" = getelementptr inbounds float, ptr %".61", i64 %".147"
  %".149" = load <6 x float>, ptr %".148", align 4
  %".150" = shufflevector <6 x float> %".149", <6 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".151" = fadd <16 x float> %".150", %".99"
  %".152" = add i64 24, %"i.2"
  %".153" = getelementptr inbounds float, ptr %".61", i64 %".152"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".151", ptr %".153", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".155" = add i64 36, %"i.2"
  %".156" = getelementptr inbounds float, ptr %".61", i64 %".155"
  %".157" = load <6 x float>, ptr %".156", align 4
  %".158" = shufflevector <6 x float> %".157", <6 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".159" = fadd <16 x float> %".158", %".100"
  %".160" = add i64 36, %"i.2"
  %".161" = getelementptr inbounds float, ptr %".61", i64 %".160"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".159", ptr %".161", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".163" = add i64 %"i.2", 6
  br label %"loop.2"
}
