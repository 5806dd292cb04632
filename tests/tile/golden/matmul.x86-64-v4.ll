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
  %"i" = phi  i64 [0, %"start"], [%".154", %"done.2"]
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
  %"i.2" = phi  i64 [0, %"switch.done"], [%".152", %"k.done"]
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
  %".154" = add i64 %"i", 1
  br label %"loop"
k:
  %".100" = phi  i64 [0, %"body.2"], [%".135", %"k.body"]
  %".101" = phi  <16 x float> [%".86", %"body.2"], [%".116", %"k.body"]
  %".102" = phi  <16 x float> [%".90", %"body.2"], [%".122", %"k.body"]
  %".103" = phi  <16 x float> [%".94", %"body.2"], [%".128", %"k.body"]
  %".104" = phi  <16 x float> [%".98", %"body.2"], [%".134", %"k.body"]
  %".105" = icmp slt i64 %".100", 8
  br i1 %".105", label %"k.body", label %"k.done"
k.body:
  %".107" = mul i64 %".100", 12
  %".108" = add i64 %".107", %"i.2"
  %".109" = getelementptr inbounds float, ptr %".51", i64 %".108"
  %".110" = load <6 x float>, ptr %".109", align 4
  %".111" = shufflevector <6 x float> %".110", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".112" = getelementptr inbounds float, ptr %".41", i64 %".100"
  %".113" = load float, ptr %".112", align 4
  %".114" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".113", i32 0
  %".115" = shufflevector <16 x float> %".114", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".116" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".115", <16 x float> %".111", <16 x float> %".101")
  %".117" = add i64 16, %".100"
  %".118" = getelementptr inbounds float, ptr %".41", i64 %".117"
  %".119" = load float, ptr %".118", align 4
  %".120" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".119", i32 0
  %".121" = shufflevector <16 x float> %".120", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".122" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".121", <16 x float> %".111", <16 x float> %".102")
  %".123" = add i64 32, %".100"
  %".124" = getelementptr inbounds float, ptr %".41", i64 %".123"
  %".125" = load float, ptr %".124", align 4
  %".126" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".125", i32 0
  %".127" = shufflevector <16 x float> %".126", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".128" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".127", <16 x float> %".111", <16 x float> %".103")
  %".129" = add i64 48, %".100"
  %".130" = getelementptr inbounds float, ptr %".41", i64 %".129"
  %".131" = load float, ptr %".130", align 4
  %".132" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".131", i32 0
  %".133" = shufflevector <16 x float> %".132", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".134" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".133", <16 x float> %".111", <16 x float> %".104")
  %".135" = add i64 %".100", 1
  br label %"k"
k.done:
  %".137" = shufflevector <16 x float> %".101", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".138" = getelementptr inbounds float, ptr %".61", i64 %"i.2"
  store <6 x float> %".137", ptr %".138", align 4
  %".140" = shufflevector <16 x float> %".102", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".141" = add i64 12, %"i.2"
  %".142" = getelementptr inbounds float, ptr %".61", i64 %".141"
  store <6 x float> %".140", ptr %".142", align 4
  %".144" = shufflevector <16 x float> %".103", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".145" = add i64 24, %"i.2"
  %".146" = getelementptr inbounds float, ptr %".61", i64 %".145"
  store <6 x float> %".144", ptr %".146", align 4
  %".148" = shufflevector <16 x float> %".104", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".149" = add i64 36, %"i.2"
  %".150" = getelementptr inbounds float, ptr %".61", i64 %".149"
  store <6 x float> %".148", ptr %".150", align 4
  %".152" = add i64 %"i.2", 6
  br label %"loop.2"
}
