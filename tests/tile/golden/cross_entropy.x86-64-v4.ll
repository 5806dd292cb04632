; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".42" = alloca <16 x float>
  %".43" = alloca <16 x float>
  %".112" = alloca <16 x float>
  %".113" = alloca <16 x float>
  %".180" = alloca <16 x float>
  %".181" = alloca <16 x float>
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = urem i64 %".4", %".8"
  %".10" = udiv i64 %".4", %".8"
  %".11" = getelementptr ptr, ptr %".1", i64 0
  %".12" = load ptr, ptr %".11"
  %".13" = getelementptr ptr, ptr %".1", i64 1
  %".14" = load ptr, ptr %".13"
  %".15" = getelementptr ptr, ptr %".1", i64 2
  %".16" = load ptr, ptr %".15"
  %".17" = getelementptr ptr, ptr %".1", i64 3
  %".18" = load ptr, ptr %".17"
  %".19" = trunc i64 %".9" to i32
  %".20" = trunc i64 %".8" to i32
  %".21" = trunc i64 %".9" to i32
  %".22" = sext i32 %".21" to i64
  %".23" = mul i64 %".22", 4
  %".24" = sext i32 0 to i64
  %".25" = mul i64 %".24", 32
  %".26" = mul i64 %".23", 32
  %".27" = add i64 %".26", %".25"
  %".28" = getelementptr float, ptr %".12", i64 %".27"
  %".29" = trunc i64 %".9" to i32
  %".30" = sext i32 %".29" to i64
  %".31" = mul i64 %".30", 4
  %".32" = getelementptr i32, ptr %".14", i64 %".31"
  %".33" = trunc i64 %".9" to i32
  %".34" = sext i32 %".33" to i64
  %".35" = mul i64 %".34", 4
  %".36" = getelementptr float, ptr %".16", i64 %".35"
  %".37" = trunc i64 %".9" to i32
  %".38" = sext i32 %".37" to i64
  %".39" = mul i64 %".38", 4
  %".40" = getelementptr float, ptr %".18", i64 %".39"
  %".41" = getelementptr i8, ptr %".3", i64 0
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".109", %"done.1"]
  %".45" = icmp slt i64 %"i", 4
  br i1 %".45", label %"body", label %"done"
body:
  store <16 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <16 x float>* %".42"
  store <16 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <16 x float>* %".43"
  br label %"loop.1"
done:
  %".111" = getelementptr i8, ptr %".3", i64 64
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".73", %"body.1"]
  %".50" = icmp slt i64 %"i.1", 32
  br i1 %".50", label %"body.1", label %"done.1"
body.1:
  %".52" = mul i64 %"i", 32
  %".53" = add i64 %".52", %"i.1"
  %".54" = getelementptr inbounds float, ptr %".28", i64 %".53"
  %".55" = load <16 x float>, ptr %".54", align 4
  %".56" = load <16 x float>, <16 x float>* %".42"
  %".57" = fcmp ogt <16 x float> %".56", %".55"
  %".58" = select  <16 x i1> %".57", <16 x float> %".56", <16 x float> %".55"
  %".59" = fcmp uno <16 x float> %".56", %".56"
  %".60" = select  <16 x i1> %".59", <16 x float> %".56", <16 x float> %".58"
  store <16 x float> %".60", <16 x float>* %".42"
  %".62" = add i64 %"i.1", 16
  %".63" = mul i64 %"i", 32
  %".64" = add i64 %".63", %".62"
  %".65" = getelementptr inbounds float, ptr %".28", i64 %".64"
  %".66" = load <16 x float>, ptr %".65", align 4
  %".67" = load <16 x float>, <16 x float>* %".43"
  %".68" = fcmp ogt <16 x float> %".67", %".66"
  %".69" = select  <16 x i1> %".68", <16 x float> %".67", <16 x float> %".66"
  %".70" = fcmp uno <16 x float> %".67", %".67"
  %".71" = select  <16 x i1> %".70", <16 x float> %".67", <16 x float> %".69"
  store <16 x float> %".71", <16 x float>* %".43"
  %".73" = add i64 %"i.1", 32
  br label %"loop.1"
done.1:
  %".75" = load <16 x float>, <16 x float>* %".42"
  %".76" = load <16 x float>, <16 x float>* %".43"
  %".77" = fcmp ogt <16 x float> %".75", %".76"
  %".78" = select  <16 x i1> %".77", <16 x float> %".75", <16 x float> %".76"
  %".79" = fcmp uno <16 x float> %".75", %".75"
  %".80" = select  <16 x i1> %".79", <16 x float> %".75", <16 x float> %".78"
  %".81" = shufflevector <16 x float> %".80", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".82" = shufflevector <16 x float> %".80", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".83" = fcmp ogt <8 x float> %".81", %".82"
  %".84" = select  <8 x i1> %".83", <8 x float> %".81", <8 x float> %".82"
  %".85" = fcmp uno <8 x float> %".81", %".81"
  %".86" = select  <8 x i1> %".85", <8 x float> %".81", <8 x float> %".84"
  %".87" = shufflevector <8 x float> %".86", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".88" = shufflevector <8 x float> %".86", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".89" = fcmp ogt <4 x float> %".87", %".88"
  %".90" = select  <4 x i1> %".89", <4 x float> %".87", <4 x float> %".88"
  %".91" = fcmp uno <4 x float> %".87", %".87"
  %".92" = select  <4 x i1> %".91", <4 x float> %".87", <4 x float> %".90"
  %".93" = shufflevector <4 x float> %".92", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".94" = shufflevector <4 x float> %".92", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".95" = fcmp ogt <2 x float> %".93", %".94"
  %".96" = select  <2 x i1> %".95", <2 x float> %".93", <2 x float> %".94"
  %".97" = fcmp uno <2 x float> %".93", %".93"
  %".98" = select  <2 x i1> %".97", <2 x float> %".93", <2 x float> %".96"
  %".99" = shufflevector <2 x float> %".98", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".100" = shufflevector <2 x float> %".98", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".101" = extractelement <1 x float> %".99", i32 0
  %".102" = extractelement <1 x float> %".100", i32 0
  %".103" = fcmp ogt float %".101", %".102"
  %".104" = select  i1 %".103", float %".101", float %".102"
  %".105" = fcmp uno float %".101", %".101"
  %".106" = select  i1 %".105", float %".101", float %".104"
  %".107" = getelementptr inbounds float, ptr %".41", i64 %"i"
  store float %".106", ptr %".107", align 4
  %".109" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [0, %"done"], [%".168", %"done.3"]
  %".115" = icmp slt i64 %"i.2", 4
  br i1 %".115", label %"body.2", label %"done.2"
body.2:
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".112"
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".113"
  %".119" = getelementptr inbounds float, ptr %".41", i64 %"i.2"
  %".120" = load float, ptr %".119", align 4
  br label %"loop.3"
done.2:
  %".170" = getelementptr i8, ptr %".3", i64 128
  %".171" = getelementptr inbounds float, ptr %".41", i64 0
  %".172" = load <4 x float>, ptr %".171", align 4
  %".173" = getelementptr inbounds float, ptr %".111", i64 0
  %".174" = load <4 x float>, ptr %".173", align 4
  %".175" = call <4 x float> @"tilewright.log.v4f32"(<4 x float> %".174")
  %".176" = fadd <4 x float> %".172", %".175"
  %".177" = getelementptr inbounds float, ptr %".170", i64 0
  store <4 x float> %".176", ptr %".177", align 4
  %".179" = getelementptr i8, ptr %".3", i64 192
  br label %"loop.4"
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".147", %"body.3"]
  %".122" = icmp slt i64 %"i.3", 32
  br i1 %".122", label %"body.3", label %"done.3"
body.3:
  %".124" = mul i64 %"i.2", 32
  %".125" = add i64 %".124", %"i.3"
  %".126" = getelementptr inbounds float, ptr %".28", i64 %".125"
  %".127" = load <16 x float>, ptr %".126", align 4
  %".128" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".120", i32 0
  %".129" = shufflevector <16 x float> %".128", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".130" = fsub <16 x float> %".127", %".129"
  %".131" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".130")
  %".132" = load <16 x float>, <16 x float>* %".112"
  %".133" = fadd <16 x float> %".132", %".131"
  store <16 x float> %".133", <16 x float>* %".112"
  %".135" = add i64 %"i.3", 16
  %".136" = mul i64 %"i.2", 32
  %".137" = add i64 %".136", %".135"
  %".138" = getelementptr inbounds float, ptr %".28", i64 %".137"
  %".139" = load <16 x float>, ptr %".138", align 4
  %".140" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".120", i32 0
  %".141" = shufflevector <16 x float> %".140", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".142" = fsub <16 x float> %".139", %".141"
  %".143" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".142")
  %".144" = load <16 x float>, <16 x float>* %".113"
  %".145" = fadd <16 x float> %".144", %".143"
  store <16 x float> %".145", <16 x float>* %".113"
  %".147" = add i64 %"i.3", 32
  br label %"loop.3"
done.3:
  %".149" = load <16 x float>, <16 x float>* %".112"
  %".150" = load <16 x float>, <16 x float>* %".113"
  %".151" = fadd <16 x float> %".149", %".150"
  %".152" = shufflevector <16 x float> %".151", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".153" = shufflevector <16 x float> %".151", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".154" = fadd <8 x float> %".152", %".153"
  %".155" = shufflevector <8 x float> %".154", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".156" = shufflevector <8 x float> %".154", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".157" = fadd <4 x float> %".155", %".156"
  %".158" = shufflevector <4 x float> %".157", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".159" = shufflevector <4 x float> %".157", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".160" = fadd <2 x float> %".158", %".159"
  %".161" = shufflevector <2 x float> %".160", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".162" = shufflevector <2 x float> %".160", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".163" = extractelement <1 x float> %".161", i32 0
  %".164" = extractelement <1 x float> %".162", i32 0
  %".165" = fadd float %".163", %".164"
  %".166" = getelementptr inbounds float, ptr %".111", i64 %"i.2"
  store float %".165", ptr %".166", align 4
  %".168" = add i64 %"i.2", 1
  br label %"loop.2"
loop.4:
  %"i.4" = phi  i64 [0, %"done.2"], [%".248", %"done.5"]
  %".183" = icmp slt i64 %"i.4", 4
  br i1 %".183", label %"body.4", label %"done.4"
body.4:
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".180"
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".181"
  %".187" = getelementptr inbounds i32, ptr %".32", i64 %"i.4"
  %".188" = load i32, ptr %".187", align 4
  br label %"loop.5"
done.4:
  %".250" = getelementptr inbounds i32, ptr %".32", i64 0
  %".251" = load <4 x i32>, ptr %".250", align 4
  %".252" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 0, i32 0
  %".253" = shufflevector <4 x i32> %".252", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".254" = icmp sge <4 x i32> %".251", %".253"
  %".255" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 32, i32 0
  %".256" = shufflevector <4 x i32> %".255", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".257" = icmp slt <4 x i32> %".251", %".256"
  %".258" = and <4 x i1> %".254", %".257"
  %".259" = getelementptr inbounds float, ptr %".170", i64 0
  %".260" = load <4 x float>, ptr %".259", align 4
  %".261" = getelementptr inbounds float, ptr %".179", i64 0
  %".262" = load <4 x float>, ptr %".261", align 4
  %".263" = fsub <4 x float> %".260", %".262"
  %".264" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".265" = shufflevector <4 x float> %".264", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".266" = select  <4 x i1> %".258", <4 x float> %".263", <4 x float> %".265"
  %".267" = getelementptr inbounds float, ptr %".36", i64 0
  store <4 x float> %".266", ptr %".267", align 4
  %".269" = getelementptr inbounds float, ptr %".170", i64 0
  %".270" = load <4 x float>, ptr %".269", align 4
  %".271" = getelementptr inbounds float, ptr %".40", i64 0
  store <4 x float> %".270", ptr %".271", align 4
  ret void
loop.5:
  %"i.5" = phi  i64 [0, %"body.4"], [%".227", %"body.5"]
  %".190" = icmp slt i64 %"i.5", 32
  br i1 %".190", label %"body.5", label %"done.5"
body.5:
  %".192" = insertelement <16 x i64> <i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, i64 %"i.5", i32 0
  %".193" = shufflevector <16 x i64> %".192", <16 x i64> <i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".194" = add <16 x i64> %".193", <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %".195" = trunc <16 x i64> %".194" to <16 x i32>
  %".196" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".188", i32 0
  %".197" = shufflevector <16 x i32> %".196", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".198" = icmp eq <16 x i32> %".195", %".197"
  %".199" = mul i64 %"i.4", 32
  %".200" = add i64 %".199", %"i.5"
  %".201" = getelementptr inbounds float, ptr %".28", i64 %".200"
  %".202" = load <16 x float>, ptr %".201", align 4
  %".203" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".204" = shufflevector <16 x float> %".203", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".205" = select  <16 x i1> %".198", <16 x float> %".202", <16 x float> %".204"
  %".206" = load <16 x float>, <16 x float>* %".180"
  %".207" = fadd <16 x float> %".206", %".205"
  store <16 x float> %".207", <16 x float>* %".180"
  %".209" = add i64 %"i.5", 16
  %".210" = insertelement <16 x i64> <i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, i64 %".209", i32 0
  %".211" = shufflevector <16 x i64> %".210", <16 x i64> <i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".212" = add <16 x i64> %".211", <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %".213" = trunc <16 x i64> %".212" to <16 x i32>
  %".214" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".188", i32 0
  %".215" = shufflevector <16 x i32> %".214", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".216" = icmp eq <16 x i32> %".213", %".215"
  %".217" = mul i64 %"i.4", 32
  %".218" = add i64 %".217", %".209"
  %".219" = getelementptr inbounds float, ptr %".28", i64 %".218"
  %".220" = load <16 x float>, ptr %".219", align 4
  %".221" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".222" = shufflevector <16 x float> %".221", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".223" = select  <16 x i1> %".216", <16 x float> %".220", <16 x float> %".222"
  %".224" = load <16 x float>, <16 x float>* %".181"
  %".225" = fadd <16 x float> %".224", %".223"
  store <16 x float> %".225", <16 x float>* %".181"
  %".227" = add i64 %"i.5", 32
  br label %"loop.5"
done.5:
  %".229" = load <16 x float>, <16 x float>* %".180"
  %".230" = load <16 x float>, <16 x float>* %".181"
  %".231" = fadd <16 x float> %".229", %".230"
  %".232" = shufflevector <16 x float> %".231", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".233" = shufflevector <16 x float> %".231", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".234" = fadd <8 x float> %".232", %".233"
  %".235" = shufflevector <8 x float> %".234", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".236" = shufflevector <8 x float> %".234", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".237" = fadd <4 x float> %".235", %".236"
  %".238" = shufflevector <4 x float> %".237", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".239" = shufflevector <4 x float> %".237", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".240" = fadd <2 x float> %".238", %".239"
  %".241" = shufflevector <2 x float> %".240", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".242" = shufflevector <2 x float> %".240", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".243" = extractelement <1 x float> %".241", i32 0
  %".244" = extractelement <1 x float> %".242", i32 0
  %".245" = fadd float %".243", %".244"
  %".246" = getelementptr inbounds float, ptr %".179", i64 %"i.4"
  store float %".245", ptr %".246", align 4
  %".248" = add i64 %"i.4", 1
  br label %"loop.4"
}
