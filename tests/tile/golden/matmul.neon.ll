; neon
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
  %"i" = phi  i64 [0, %"start"], [%".203", %"done.2"]
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
  %".73" = shufflevector <4 x float> %".72", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".74" = mul i64 %"i.1", 12
  %".75" = getelementptr inbounds float, ptr %".61", i64 %".74"
  store <4 x float> %".73", ptr %".75", align 4
  %".77" = insertelement <2 x float> <float undef, float undef>, float              0x0, i32 0
  %".78" = shufflevector <2 x float> %".77", <2 x float> <float undef, float undef>, <2 x i32> <i32 0, i32 0>
  %".79" = mul i64 %"i.1", 12
  %".80" = add i64 %".79", 4
  %".81" = getelementptr inbounds float, ptr %".61", i64 %".80"
  store <2 x float> %".78", ptr %".81", align 4
  %".83" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  br label %"switch.done"
loop.2:
  %"i.2" = phi  i64 [0, %"switch.done"], [%".201", %"k.done"]
  %".88" = icmp slt i64 %"i.2", 6
  br i1 %".88", label %"body.2", label %"done.2"
body.2:
  %".90" = getelementptr inbounds float, ptr %".61", i64 %"i.2"
  %".91" = load <4 x float>, ptr %".90", align 4
  %".92" = add i64 %"i.2", 4
  %".93" = getelementptr inbounds float, ptr %".61", i64 %".92"
  %".94" = load <2 x float>, ptr %".93", align 4
  %".95" = shufflevector <2 x float> %".94", <2 x float> <float              0x0, float              0x0>, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".96" = add i64 12, %"i.2"
  %".97" = getelementptr inbounds float, ptr %".61", i64 %".96"
  %".98" = load <4 x float>, ptr %".97", align 4
  %".99" = add i64 %"i.2", 4
  %".100" = add i64 12, %".99"
  %".101" = getelementptr inbounds float, ptr %".61", i64 %".100"
  %".102" = load <2 x float>, ptr %".101", align 4
  %".103" = shufflevector <2 x float> %".102", <2 x float> <float              0x0, float              0x0>, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".104" = add i64 24, %"i.2"
  %".105" = getelementptr inbounds float, ptr %".61", i64 %".104"
  %".106" = load <4 x float>, ptr %".105", align 4
  %".107" = add i64 %"i.2", 4
  %".108" = add i64 24, %".107"
  %".109" = getelementptr inbounds float, ptr %".61", i64 %".108"
  %".110" = load <2 x float>, ptr %".109", align 4
  %".111" = shufflevector <2 x float> %".110", <2 x float> <float              0x0, float              0x0>, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".112" = add i64 36, %"i.2"
  %".113" = getelementptr inbounds float, ptr %".61", i64 %".112"
  %".114" = load <4 x float>, ptr %".113", align 4
  %".115" = add i64 %"i.2", 4
  %".116" = add i64 36, %".115"
  %".117" = getelementptr inbounds float, ptr %".61", i64 %".116"
  %".118" = load <2 x float>, ptr %".117", align 4
  %".119" = shufflevector <2 x float> %".118", <2 x float> <float              0x0, float              0x0>, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  br label %"k"
done.2:
  %".203" = add i64 %"i", 1
  br label %"loop"
k:
  %".121" = phi  i64 [0, %"body.2"], [%".169", %"k.body"]
  %".122" = phi  <4 x float> [%".91", %"body.2"], [%".146", %"k.body"]
  %".123" = phi  <4 x float> [%".95", %"body.2"], [%".147", %"k.body"]
  %".124" = phi  <4 x float> [%".98", %"body.2"], [%".153", %"k.body"]
  %".125" = phi  <4 x float> [%".103", %"body.2"], [%".154", %"k.body"]
  %".126" = phi  <4 x float> [%".106", %"body.2"], [%".160", %"k.body"]
  %".127" = phi  <4 x float> [%".111", %"body.2"], [%".161", %"k.body"]
  %".128" = phi  <4 x float> [%".114", %"body.2"], [%".167", %"k.body"]
  %".129" = phi  <4 x float> [%".119", %"body.2"], [%".168", %"k.body"]
  %".130" = icmp slt i64 %".121", 8
  br i1 %".130", label %"k.body", label %"k.done"
k.body:
  %".132" = mul i64 %".121", 12
  %".133" = add i64 %".132", %"i.2"
  %".134" = getelementptr inbounds float, ptr %".51", i64 %".133"
  %".135" = load <4 x float>, ptr %".134", align 4
  %".136" = add i64 %"i.2", 4
  %".137" = mul i64 %".121", 12
  %".138" = add i64 %".137", %".136"
  %".139" = getelementptr inbounds float, ptr %".51", i64 %".138"
  %".140" = load <2 x float>, ptr %".139", align 4
  %".141" = shufflevector <2 x float> %".140", <2 x float> <float              0x0, float              0x0>, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".142" = getelementptr inbounds float, ptr %".41", i64 %".121"
  %".143" = load float, ptr %".142", align 4
  %".144" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".143", i32 0
  %".145" = shufflevector <4 x float> %".144", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".146" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".145", <4 x float> %".135", <4 x float> %".122")
  %".147" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".145", <4 x float> %".141", <4 x float> %".123")
  %".148" = add i64 16, %".121"
  %".149" = getelementptr inbounds float, ptr %".41", i64 %".148"
  %".150" = load float, ptr %".149", align 4
  %".151" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".150", i32 0
  %".152" = shufflevector <4 x float> %".151", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".153" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".152", <4 x float> %".135", <4 x float> %".124")
  %".154" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".152", <4 x float> %".141", <4 x float> %".125")
  %".155" = add i64 32, %".121"
  %".156" = getelementptr inbounds float, ptr %".41", i64 %".155"
  %".157" = load float, ptr %".156", align 4
  %".158" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".157", i32 0
  %".159" = shufflevector <4 x float> %".158", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".160" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".159", <4 x float> %".135", <4 x float> %".126")
  %".161" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".159", <4 x float> %".141", <4 x float> %".127")
  %".162" = add i64 48, %".121"
  %".163" = getelementptr inbounds float, ptr %".41", i64 %".162"
  %".164" = load float, ptr %".163", align 4
  %".165" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".164", i32 0
  %".166" = shufflevector <4 x float> %".165", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".167" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".166", <4 x float> %".135", <4 x float> %".128")
  %".168" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".166", <4 x float> %".141", <4 x float> %".129")
  %".169" = add i64 %".121", 1
  br label %"k"
k.done:
  %".171" = getelementptr inbounds float, ptr %".61", i64 %"i.2"
  store <4 x float> %".122", ptr %".171", align 4
  %".173" = shufflevector <4 x float> %".123", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".174" = add i64 %"i.2", 4
  %".175" = getelementptr inbounds float, ptr %".61", i64 %".174"
  store <2 x float> %".173", ptr %".175", align 4
  %".177" = add i64 12, %"i.2"
  %".178" = getelementptr inbounds float, ptr %".61", i64 %".177"
  store <4 x float> %".124", ptr %".178", align 4
  %".180" = shufflevector <4 x float> %".125", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".181" = add i64 %"i.2", 4
  %".182" = add i64 12, %".181"
  %".183" = getelementptr inbounds float, ptr %".61", i64 %".182"
  store <2 x float> %".180", ptr %".183", align 4
  %".185" = add i64 24, %"i.2"
  %".186" = getelementptr inbounds float, ptr %".61", i64 %".185"
  store <4 x float> %".126", ptr %".186", align 4
  %".188" = shufflevector <4 x float> %".127", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".189" = add i64 %"i.2", 4
  %".190" = add i64 24, %".189"
  %".191" = getelementptr inbounds float, ptr %".61", i64 %".190"
  store <2 x float> %".188", ptr %".191", align 4
  %".193" = add i64 36, %"i.2"
  %".194" = getelementptr inbounds float, ptr %".61", i64 %".193"
  store <4 x float> %".128", ptr %".194", align 4
  %".196" = shufflevector <4 x float> %".129", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".197" = add i64 %"i.2", 4
  %".198" = add i64 36, %".197"
  %".199" = getelementptr inbounds float, ptr %".61", i64 %".198"
  store <2 x float> %".196", ptr %".199", align 4
  %".201" = add i64 %"i.2", 6
  br label %"loop.2"
}
