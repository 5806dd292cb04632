; neon
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".32" = alloca <4 x float>
  %".33" = alloca <4 x float>
  %".34" = alloca <4 x float>
  %".35" = alloca <4 x float>
  %".100" = alloca <4 x float>
  %".101" = alloca <4 x float>
  %".102" = alloca <4 x float>
  %".103" = alloca <4 x float>
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = getelementptr ptr, ptr %".1", i64 0
  %".10" = load ptr, ptr %".9"
  %".11" = getelementptr ptr, ptr %".1", i64 1
  %".12" = load ptr, ptr %".11"
  %".13" = trunc i64 %".4" to i32
  %".14" = trunc i64 %".8" to i32
  %".15" = trunc i64 %".4" to i32
  %".16" = sext i32 %".15" to i64
  %".17" = mul i64 %".16", 4
  %".18" = sext i32 0 to i64
  %".19" = mul i64 %".18", 16
  %".20" = mul i64 %".17", 16
  %".21" = add i64 %".20", %".19"
  %".22" = getelementptr float, ptr %".10", i64 %".21"
  %".23" = trunc i64 %".4" to i32
  %".24" = sext i32 %".23" to i64
  %".25" = mul i64 %".24", 4
  %".26" = sext i32 0 to i64
  %".27" = mul i64 %".26", 16
  %".28" = mul i64 %".25", 16
  %".29" = add i64 %".28", %".27"
  %".30" = getelementptr float, ptr %".12", i64 %".29"
  %".31" = getelementptr i8, ptr %".3", i64 0
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".96", %"done.1"]
  %".37" = icmp slt i64 %"i", 4
  br i1 %".37", label %"body", label %"done"
body:
  store <4 x float> splat (float 0xfff0000000000000), <4 x float>* %".32"
  store <4 x float> splat (float 0xfff0000000000000), <4 x float>* %".33"
  store <4 x float> splat (float 0xfff0000000000000), <4 x float>* %".34"
  store <4 x float> splat (float 0xfff0000000000000), <4 x float>* %".35"
  br label %"loop.1"
done:
  %".98" = getelementptr i8, ptr %".3", i64 64
  %".99" = getelementptr i8, ptr %".3", i64 128
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".77", %"body.1"]
  %".44" = icmp slt i64 %"i.1", 16
  br i1 %".44", label %"body.1", label %"done.1"
body.1:
  %".46" = mul i64 %"i", 16
  %".47" = add i64 %".46", %"i.1"
  %".48" = getelementptr inbounds float, ptr %".22", i64 %".47"
  %".49" = load <4 x float>, ptr %".48", align 4
  %".50" = load <4 x float>, <4 x float>* %".32"
  %".51" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".49", <4 x float> %".50")
  store <4 x float> %".51", <4 x float>* %".32"
  %".53" = add i64 %"i.1", 4
  %".54" = mul i64 %"i", 16
  %".55" = add i64 %".54", %".53"
  %".56" = getelementptr inbounds float, ptr %".22", i64 %".55"
  %".57" = load <4 x float>, ptr %".56", align 4
  %".58" = load <4 x float>, <4 x float>* %".33"
  %".59" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".57", <4 x float> %".58")
  store <4 x float> %".59", <4 x float>* %".33"
  %".61" = add i64 %"i.1", 8
  %".62" = mul i64 %"i", 16
  %".63" = add i64 %".62", %".61"
  %".64" = getelementptr inbounds float, ptr %".22", i64 %".63"
  %".65" = load <4 x float>, ptr %".64", align 4
  %".66" = load <4 x float>, <4 x float>* %".34"
  %".67" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".65", <4 x float> %".66")
  store <4 x float> %".67", <4 x float>* %".34"
  %".69" = add i64 %"i.1", 12
  %".70" = mul i64 %"i", 16
  %".71" = add i64 %".70", %".69"
  %".72" = getelementptr inbounds float, ptr %".22", i64 %".71"
  %".73" = load <4 x float>, ptr %".72", align 4
  %".74" = load <4 x float>, <4 x float>* %".35"
  %".75" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".73", <4 x float> %".74")
  store <4 x float> %".75", <4 x float>* %".35"
  %".77" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  %".79" = load <4 x float>, <4 x float>* %".32"
  %".80" = load <4 x float>, <4 x float>* %".33"
  %".81" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".80", <4 x float> %".79")
  %".82" = load <4 x float>, <4 x float>* %".34"
  %".83" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".82", <4 x float> %".81")
  %".84" = load <4 x float>, <4 x float>* %".35"
  %".85" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".84", <4 x float> %".83")
  %".86" = shufflevector <4 x float> %".85", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".87" = shufflevector <4 x float> %".85", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".88" = call <2 x float> @"llvm.maximum.v2f32"(<2 x float> %".87", <2 x float> %".86")
  %".89" = shufflevector <2 x float> %".88", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".90" = shufflevector <2 x float> %".88", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".91" = extractelement <1 x float> %".89", i32 0
  %".92" = extractelement <1 x float> %".90", i32 0
  %".93" = call float @"llvm.maximum.f32"(float %".92", float %".91")
  %".94" = getelementptr inbounds float, ptr %".31", i64 %"i"
  store float %".93", ptr %".94", align 4
  %".96" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [0, %"done"], [%".198", %"done.3"]
  %".105" = icmp slt i64 %"i.2", 4
  br i1 %".105", label %"body.2", label %"done.2"
body.2:
  store <4 x float> splat (float              0x0), <4 x float>* %".100"
  store <4 x float> splat (float              0x0), <4 x float>* %".101"
  store <4 x float> splat (float              0x0), <4 x float>* %".102"
  store <4 x float> splat (float              0x0), <4 x float>* %".103"
  %".111" = getelementptr inbounds float, ptr %".31", i64 %"i.2"
  %".112" = load float, ptr %".111", align 4
  br label %"loop.3"
done.2:
  br label %"loop.4"
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".179", %"body.3"]
  %".114" = icmp slt i64 %"i.3", 16
  br i1 %".114", label %"body.3", label %"done.3"
body.3:
  %".116" = mul i64 %"i.2", 16
  %".117" = add i64 %".116", %"i.3"
  %".118" = getelementptr inbounds float, ptr %".22", i64 %".117"
  %".119" = load <4 x float>, ptr %".118", align 4
  %".120" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".112", i32 0
  %".121" = shufflevector <4 x float> %".120", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".122" = fsub <4 x float> %".119", %".121"
  %".123" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".122")
  %".124" = mul i64 %"i.2", 16
  %".125" = add i64 %".124", %"i.3"
  %".126" = getelementptr inbounds float, ptr %".99", i64 %".125"
  store <4 x float> %".123", ptr %".126", align 4
  %".128" = load <4 x float>, <4 x float>* %".100"
  %".129" = fadd <4 x float> %".128", %".123"
  store <4 x float> %".129", <4 x float>* %".100"
  %".131" = add i64 %"i.3", 4
  %".132" = mul i64 %"i.2", 16
  %".133" = add i64 %".132", %".131"
  %".134" = getelementptr inbounds float, ptr %".22", i64 %".133"
  %".135" = load <4 x float>, ptr %".134", align 4
  %".136" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".112", i32 0
  %".137" = shufflevector <4 x float> %".136", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".138" = fsub <4 x float> %".135", %".137"
  %".139" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".138")
  %".140" = mul i64 %"i.2", 16
  %".141" = add i64 %".140", %".131"
  %".142" = getelementptr inbounds float, ptr %".99", i64 %".141"
  store <4 x float> %".139", ptr %".142", align 4
  %".144" = load <4 x float>, <4 x float>* %".101"
  %".145" = fadd <4 x float> %".144", %".139"
  store <4 x float> %".145", <4 x float>* %".101"
  %".147" = add i64 %"i.3", 8
  %".148" = mul i64 %"i.2", 16
  %".149" = add i64 %".148", %".147"
  %".150" = getelementptr inbounds float, ptr %".22", i64 %".149"
  %".151" = load <4 x float>, ptr %".150", align 4
  %".152" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".112", i32 0
  %".153" = shufflevector <4 x float> %".152", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".154" = fsub <4 x float> %".151", %".153"
  %".155" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".154")
  %".156" = mul i64 %"i.2", 16
  %".157" = add i64 %".156", %".147"
  %".158" = getelementptr inbounds float, ptr %".99", i64 %".157"
  store <4 x float> %".155", ptr %".158", align 4
  %".160" = load <4 x float>, <4 x float>* %".102"
  %".161" = fadd <4 x float> %".160", %".155"
  store <4 x float> %".161", <4 x float>* %".102"
  %".163" = add i64 %"i.3", 12
  %".164" = mul i64 %"i.2", 16
  %".165" = add i64 %".164", %".163"
  %".166" = getelementptr inbounds float, ptr %".22", i64 %".165"
  %".167" = load <4 x float>, ptr %".166", align 4
  %".168" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".112", i32 0
  %".169" = shufflevector <4 x float> %".168", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".170" = fsub <4 x float> %".167", %".169"
  %".171" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".170")
  %".172" = mul i64 %"i.2", 16
  %".173" = add i64 %".172", %".163"
  %".174" = getelementptr inbounds float, ptr %".99", i64 %".173"
  store <4 x float> %".171", ptr %".174", align 4
  %".176" = load <4 x float>, <4 x float>* %".103"
  %".177" = fadd <4 x float> %".176", %".171"
  store <4 x float> %".177", <4 x float>* %".103"
  %".179" = add i64 %"i.3", 16
  br label %"loop.3"
done.3:
  %".181" = load <4 x float>, <4 x float>* %".100"
  %".182" = load <4 x float>, <4 x float>* %".101"
  %".183" = fadd <4 x float> %".181", %".182"
  %".184" = load <4 x float>, <4 x float>* %".102"
  %".185" = fadd <4 x float> %".183", %".184"
  %".186" = load <4 x float>, <4 x float>* %".103"
  %".187" = fadd <4 x float> %".185", %".186"
  %".188" = shufflevector <4 x float> %".187", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".189" = shufflevector <4 x float> %".187", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".190" = fadd <2 x float> %".188", %".189"
  %".191" = shufflevector <2 x float> %".190", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".192" = shufflevector <2 x float> %".190", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".193" = extractelement <1 x float> %".191", i32 0
  %".194" = extractelement <1 x float> %".192", i32 0
  %".195" = fadd float %".193", %".194"
  %".196" = getelementptr inbounds float, ptr %".98", i64 %"i.2"
  store float %".195", ptr %".196", align 4
  %".198" = add i64 %"i.2", 1
  br label %"loop.2"
loop.4:
  %"i.4" = phi  i64 [0, %"done.2"], [%".221", %"done.5"]
  %".201" = icmp slt i64 %"i.4", 4
  br i1 %".201", label %"body.4", label %"done.4"
body.4:
  %".203" = getelementptr inbounds float, ptr %".98", i64 %"i.4"
  %".204" = load float, ptr %".203", align 4
  br label %"loop.5"
done.4:
  ret void
loop.5:
  %"i.5" = phi  i64 [0, %"body.4"], [%".219", %"body.5"]
  %".206" = icmp slt i64 %"i.5", 16
  br i1 %".206", label %"body.5", label %"done.5"
body.5:
  %".208" = mul i64 %"i.4", 16
  %".209" = add i64 %".208", %"i.5"
  %".210" = getelementptr inbounds float, ptr %".99", i64 %".209"
  %".211" = load <4 x float>, ptr %".210", align 4
  %".212" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".204", i32 0
  %".213" = shufflevector <4 x float> %".212", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".214" = fdiv <4 x float> %".211", %".213"
  %".215" = mul i64 %"i.4", 16
  %".216" = add i64 %".215", %"i.5"
  %".217" = getelementptr inbounds float, ptr %".30", i64 %".216"
  store <4 x float> %".214", ptr %".217", align 4
  %".219" = add i64 %"i.5", 4
  br label %"loop.5"
done.5:
  %".221" = add i64 %"i.4", 1
  br label %"loop.4"
}
