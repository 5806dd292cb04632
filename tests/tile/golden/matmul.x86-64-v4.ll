; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
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
  %"i" = phi  i64 [0, %"start"], [%".161", %"done.2"]
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
  %".73" = shufflevector <6 x float> %".72", <6 x float> <float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".74" = mul i64 %"i.1", 12
  %".75" = getelementptr inbounds float, ptr %".61", i64 %".74"
  store <6 x float> %".73", ptr %".75", align 4
  %".77" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  br label %"switch.done"
loop.2:
  %"i.2" = phi  i64 [0, %"switch.done"], [%".159", %"k.done"]
  %".82" = icmp slt i64 %"i.2", 6
  br i1 %".82", label %"body.2", label %"done.2"
body.2:
  %".84" = getelementptr inbounds float, ptr %".61", i64 %"i.2"
  %".85" = load <6 x float>, ptr %".84", align 4
  %".86" = shufflevector <6 x float> %".85", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".87" = add i64 12, %"i.2"
  %".88" = getelementptr inbounds float, ptr %".61", i64 %".87"
  %".89" = load <6 x float>, ptr %".88", align 4
  %".90" = shufflevector <6 x float> %".89", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".91" = add i64 24, %"i.2"
  %".92" = getelementptr inbounds float, ptr %".61", i64 %".91"
  %".93" = load <6 x float>, ptr %".92", align 4
  %".94" = shufflevector <6 x float> %".93", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".95" = add i64 36, %"i.2"
  %".96" = getelementptr inbounds float, ptr %".61", i64 %".95"
  %".97" = load <6 x float>, ptr %".96", align 4
  %".98" = shufflevector <6 x float> %".97", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  br label %"k"
done.2:
  %".161" = add i64 %"i", 1
  br label %"loop"
k:
  %".100" = phi  i64 [0, %"body.2"], [%".142", %"k.body"]
  %".101" = phi  <16 x float> [%".86", %"body.2"], [%".123", %"k.body"]
  %".102" = phi  <16 x float> [%".90", %"body.2"], [%".129", %"k.body"]
  %".103" = phi  <16 x float> [%".94", %"body.2"], [%".135", %"k.body"]
  %".104" = phi  <16 x float> [%".98", %"body.2"], [%".141", %"k.body"]
  %".105" = icmp slt i64 %".100", 8
  br i1 %".105", label %"k.body", label %"k.done"
k.body:
  %".107" = add i64 %".100", 32
  %".108" = icmp slt i64 %".107", 7
  %".109" = select  i1 %".108", i64 %".107", i64 7
  %".110" = mul i64 %".109", 12
  %".111" = add i64 %".110", %"i.2"
  %".112" = getelementptr inbounds float, ptr %".51", i64 %".111"
  call void @"llvm.prefetch.p0"(ptr %".112", i32 0, i32 3, i32 1)
  %".114" = mul i64 %".100", 12
  %".115" = add i64 %".114", %"i.2"
  %".116" = getelementptr inbounds float, ptr %".51", i64 %".115"
  %".117" = load <6 x float>, ptr %".116", align 4
  %".118" = shufflevector <6 x float> %".117", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".119" = getelementptr inbounds float, ptr %".41", i64 %".100"
  %".120" = load float, ptr %".119", align 4
  %".121" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".120", i32 0
  %".122" = shufflevector <16 x float> %".121", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".123" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".122", <16 x float> %".118", <16 x float> %".101")
  %".124" = add i64 16, %".100"
  %".125" = getelementptr inbounds float, ptr %".41", i64 %".124"
  %".126" = load float, ptr %".125", align 4
  %".127" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".126", i32 0
  %".128" = shufflevector <16 x float> %".127", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".129" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".128", <16 x float> %".118", <16 x float> %".102")
  %".130" = add i64 32, %".100"
  %".131" = getelementptr inbounds float, ptr %".41", i64 %".130"
  %".132" = load float, ptr %".131", align 4
  %".133" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".132", i32 0
  %".134" = shufflevector <16 x float> %".133", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".135" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".134", <16 x float> %".118", <16 x float> %".103")
  %".136" = add i64 48, %".100"
  %".137" = getelementptr inbounds float, ptr %".41", i64 %".136"
  %".138" = load float, ptr %".137", align 4
  %".139" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".138", i32 0
  %".140" = shufflevector <16 x float> %".139", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".141" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".140", <16 x float> %".118", <16 x float> %".104")
  %".142" = add i64 %".100", 1
  br label %"k"
k.done:
  %".144" = shufflevector <16 x float> %".101", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".145" = getelementptr inbounds float, ptr %".61", i64 %"i.2"
  store <6 x float> %".144", ptr %".145", align 4
  %".147" = shufflevector <16 x float> %".102", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".148" = add i64 12, %"i.2"
  %".149" = getelementptr inbounds float, ptr %".61", i64 %".148"
  store <6 x float> %".147", ptr %".149", align 4
  %".151" = shufflevector <16 x float> %".103", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".152" = add i64 24, %"i.2"
  %".153" = getelementptr inbounds float, ptr %".61", i64 %".152"
  store <6 x float> %".151", ptr %".153", align 4
  %".155" = shufflevector <16 x float> %".104", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".156" = add i64 36, %"i.2"
  %".157" = getelementptr inbounds float, ptr %".61", i64 %".156"
  store <6 x float> %".155", ptr %".157", align 4
  %".159" = add i64 %"i.2", 6
  br label %"loop.2"
}
