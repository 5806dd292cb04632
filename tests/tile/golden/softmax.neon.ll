; neon
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".34" = alloca <4 x float>
  %".35" = alloca <4 x float>
  %".36" = alloca <4 x float>
  %".37" = alloca <4 x float>
  %".129" = alloca <4 x float>
  %".130" = alloca <4 x float>
  %".131" = alloca <4 x float>
  %".132" = alloca <4 x float>
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
  %".15" = trunc i64 %".9" to i32
  %".16" = trunc i64 %".8" to i32
  %".17" = trunc i64 %".9" to i32
  %".18" = sext i32 %".17" to i64
  %".19" = mul i64 %".18", 4
  %".20" = sext i32 0 to i64
  %".21" = mul i64 %".20", 16
  %".22" = mul i64 %".19", 16
  %".23" = add i64 %".22", %".21"
  %".24" = getelementptr float, ptr %".12", i64 %".23"
  %".25" = trunc i64 %".9" to i32
  %".26" = sext i32 %".25" to i64
  %".27" = mul i64 %".26", 4
  %".28" = sext i32 0 to i64
  %".29" = mul i64 %".28", 16
  %".30" = mul i64 %".27", 16
  %".31" = add i64 %".30", %".29"
  %".32" = getelementptr float, ptr %".14", i64 %".31"
  %".33" = getelementptr i8, ptr %".3", i64 0
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".125", %"done.1"]
  %".39" = icmp slt i64 %"i", 4
  br i1 %".39", label %"body", label %"done"
body:
  store <4 x float> splat (float 0xfff0000000000000), <4 x float>* %".34"
  store <4 x float> splat (float 0xfff0000000000000), <4 x float>* %".35"
  store <4 x float> splat (float 0xfff0000000000000), <4 x float>* %".36"
  store <4 x float> splat (float 0xfff0000000000000), <4 x float>* %".37"
  br label %"loop.1"
done:
  %".127" = getelementptr i8, ptr %".3", i64 64
  %".128" = getelementptr i8, ptr %".3", i64 128
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".91", %"body.1"]
  %".46" = icmp slt i64 %"i.1", 16
  br i1 %".46", label %"body.1", label %"done.1"
body.1:
  %".48" = mul i64 %"i", 16
  %".49" = add i64 %".48", %"i.1"
  %".50" = getelementptr inbounds float, ptr %".24", i64 %".49"
  %".51" = load <4 x float>, ptr %".50", align 4
  %".52" = load <4 x float>, <4 x float>* %".34"
  %".53" = fcmp ogt <4 x float> %".52", %".51"
  %".54" = select  <4 x i1> %".53", <4 x float> %".52", <4 x float> %".51"
  %".55" = fcmp uno <4 x float> %".52", %".52"
  %".56" = select  <4 x i1> %".55", <4 x float> %".52", <4 x float> %".54"
  store <4 x float> %".56", <4 x float>* %".34"
  %".58" = add i64 %"i.1", 4
  %".59" = mul i64 %"i", 16
  %".60" = add i64 %".59", %".58"
  %".61" = getelementptr inbounds float, ptr %".24", i64 %".60"
  %".62" = load <4 x float>, ptr %".61", align 4
  %".63" = load <4 x float>, <4 x float>* %".35"
  %".64" = fcmp ogt <4 x float> %".63", %".62"
  %".65" = select  <4 x i1> %".64", <4 x float> %".63", <4 x float> %".62"
  %".66" = fcmp uno <4 x float> %".63", %".63"
  %".67" = select  <4 x i1> %".66", <4 x float> %".63", <4 x float> %".65"
  store <4 x float> %".67", <4 x float>* %".35"
  %".69" = add i64 %"i.1", 8
  %".70" = mul i64 %"i", 16
  %".71" = add i64 %".70", %".69"
  %".72" = getelementptr inbounds float, ptr %".24", i64 %".71"
  %".73" = load <4 x float>, ptr %".72", align 4
  %".74" = load <4 x float>, <4 x float>* %".36"
  %".75" = fcmp ogt <4 x float> %".74", %".73"
  %".76" = select  <4 x i1> %".75", <4 x float> %".74", <4 x float> %".73"
  %".77" = fcmp uno <4 x float> %".74", %".74"
  %".78" = select  <4 x i1> %".77", <4 x float> %".74", <4 x float> %".76"
  store <4 x float> %".78", <4 x float>* %".36"
  %".80" = add i64 %"i.1", 12
  %".81" = mul i64 %"i", 16
  %".82" = add i64 %".81", %".80"
  %".83" = getelementptr inbounds float, ptr %".24", i64 %".82"
  %".84" = load <4 x float>, ptr %".83", align 4
  %".85" = load <4 x float>, <4 x float>* %".37"
  %".86" = fcmp ogt <4 x float> %".85", %".84"
  %".87" = select  <4 x i1> %".86", <4 x float> %".85", <4 x float> %".84"
  %".88" = fcmp uno <4 x float> %".85", %".85"
  %".89" = select  <4 x i1> %".88", <4 x float> %".85", <4 x float> %".87"
  store <4 x float> %".89", <4 x float>* %".37"
  %".91" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  %".93" = load <4 x float>, <4 x float>* %".34"
  %".94" = load <4 x float>, <4 x float>* %".35"
  %".95" = fcmp ogt <4 x float> %".93", %".94"
  %".96" = select  <4 x i1> %".95", <4 x float> %".93", <4 x float> %".94"
  %".97" = fcmp uno <4 x float> %".93", %".93"
  %".98" = select  <4 x i1> %".97", <4 x float> %".93", <4 x float> %".96"
  %".99" = load <4 x float>, <4 x float>* %".36"
  %".100" = fcmp ogt <4 x float> %".98", %".99"
  %".101" = select  <4 x i1> %".100", <4 x float> %".98", <4 x float> %".99"
  %".102" = fcmp uno <4 x float> %".98", %".98"
  %".103" = select  <4 x i1> %".102", <4 x float> %".98", <4 x float> %".101"
  %".104" = load <4 x float>, <4 x float>* %".37"
  %".105" = fcmp ogt <4 x float> %".103", %".104"
  %".106" = select  <4 x i1> %".105", <4 x float> %".103", <4 x float> %".104"
  %".107" = fcmp uno <4 x float> %".103", %".103"
  %".108" = select  <4 x i1> %".107", <4 x float> %".103", <4 x float> %".106"
  %".109" = shufflevector <4 x float> %".108", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".110" = shufflevector <4 x float> %".108", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".111" = fcmp ogt <2 x float> %".109", %".110"
  %".112" = select  <2 x i1> %".111", <2 x float> %".109", <2 x float> %".110"
  %".113" = fcmp uno <2 x float> %".109", %".109"
  %".114" = select  <2 x i1> %".113", <2 x float> %".109", <2 x float> %".112"
  %".115" = shufflevector <2 x float> %".114", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".116" = shufflevector <2 x float> %".114", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".117" = extractelement <1 x float> %".115", i32 0
  %".118" = extractelement <1 x float> %".116", i32 0
  %".119" = fcmp ogt float %".117", %".118"
  %".120" = select  i1 %".119", float %".117", float %".118"
  %".121" = fcmp uno float %".117", %".117"
  %".122" = select  i1 %".121", float %".117", float %".120"
  %".123" = getelementptr inbounds float, ptr %".33", i64 %"i"
  store float %".122", ptr %".123", align 4
  %".125" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [0, %"done"], [%".227", %"done.3"]
  %".134" = icmp slt i64 %"i.2", 4
  br i1 %".134", label %"body.2", label %"done.2"
body.2:
  store <4 x float> splat (float              0x0), <4 x float>* %".129"
  store <4 x float> splat (float              0x0), <4 x float>* %".130"
  store <4 x float> splat (float              0x0), <4 x float>* %".131"
  store <4 x float> splat (float              0x0), <4 x float>* %".132"
  %".140" = getelementptr inbounds float, ptr %".33", i64 %"i.2"
  %".141" = load float, ptr %".140", align 4
  br label %"loop.3"
done.2:
  br label %"loop.4"
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".208", %"body.3"]
  %".143" = icmp slt i64 %"i.3", 16
  br i1 %".143", label %"body.3", label %"done.3"
body.3:
  %".145" = mul i64 %"i.2", 16
  %".146" = add i64 %".145", %"i.3"
  %".147" = getelementptr inbounds float, ptr %".24", i64 %".146"
  %".148" = load <4 x float>, ptr %".147", align 4
  %".149" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".141", i32 0
  %".150" = shufflevector <4 x float> %".149", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".151" = fsub <4 x float> %".148", %".150"
  %".152" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".151")
  %".153" = mul i64 %"i.2", 16
  %".154" = add i64 %".153", %"i.3"
  %".155" = getelementptr inbounds float, ptr %".128", i64 %".154"
  store <4 x float> %".152", ptr %".155", align 4
  %".157" = load <4 x float>, <4 x float>* %".129"
  %".158" = fadd <4 x float> %".157", %".152"
  store <4 x float> %".158", <4 x float>* %".129"
  %".160" = add i64 %"i.3", 4
  %".161" = mul i64 %"i.2", 16
  %".162" = add i64 %".161", %".160"
  %".163" = getelementptr inbounds float, ptr %".24", i64 %".162"
  %".164" = load <4 x float>, ptr %".163", align 4
  %".165" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".141", i32 0
  %".166" = shufflevector <4 x float> %".165", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".167" = fsub <4 x float> %".164", %".166"
  %".168" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".167")
  %".169" = mul i64 %"i.2", 16
  %".170" = add i64 %".169", %".160"
  %".171" = getelementptr inbounds float, ptr %".128", i64 %".170"
  store <4 x float> %".168", ptr %".171", align 4
  %".173" = load <4 x float>, <4 x float>* %".130"
  %".174" = fadd <4 x float> %".173", %".168"
  store <4 x float> %".174", <4 x float>* %".130"
  %".176" = add i64 %"i.3", 8
  %".177" = mul i64 %"i.2", 16
  %".178" = add i64 %".177", %".176"
  %".179" = getelementptr inbounds float, ptr %".24", i64 %".178"
  %".180" = load <4 x float>, ptr %".179", align 4
  %".181" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".141", i32 0
  %".182" = shufflevector <4 x float> %".181", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".183" = fsub <4 x float> %".180", %".182"
  %".184" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".183")
  %".185" = mul i64 %"i.2", 16
  %".186" = add i64 %".185", %".176"
  %".187" = getelementptr inbounds float, ptr %".128", i64 %".186"
  store <4 x float> %".184", ptr %".187", align 4
  %".189" = load <4 x float>, <4 x float>* %".131"
  %".190" = fadd <4 x float> %".189", %".184"
  store <4 x float> %".190", <4 x float>* %".131"
  %".192" = add i64 %"i.3", 12
  %".193" = mul i64 %"i.2", 16
  %".194" = add i64 %".193", %".192"
  %".195" = getelementptr inbounds float, ptr %".24", i64 %".194"
  %".196" = load <4 x float>, ptr %".195", align 4
  %".197" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".141", i32 0
  %".198" = shufflevector <4 x float> %".197", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".199" = fsub <4 x float> %".196", %".198"
  %".200" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".199")
  %".201" = mul i64 %"i.2", 16
  %".202" = add i64 %".201", %".192"
  %".203" = getelementptr inbounds float, ptr %".128", i64 %".202"
  store <4 x float> %".200", ptr %".203", align 4
  %".205" = load <4 x float>, <4 x float>* %".132"
  %".206" = fadd <4 x float> %".205", %".200"
  store <4 x float> %".206", <4 x float>* %".132"
  %".208" = add i64 %"i.3", 16
  br label %"loop.3"
done.3:
  %".210" = load <4 x float>, <4 x float>* %".129"
  %".211" = load <4 x float>, <4 x float>* %".130"
  %".212" = fadd <4 x float> %".210", %".211"
  %".213" = load <4 x float>, <4 x float>* %".131"
  %".214" = fadd <4 x float> %".212", %".213"
  %".215" = load <4 x float>, <4 x float>* %".132"
  %".216" = fadd <4 x float> %".214", %".215"
  %".217" = shufflevector <4 x float> %".216", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".218" = shufflevector <4 x float> %".216", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".219" = fadd <2 x float> %".217", %".218"
  %".220" = shufflevector <2 x float> %".219", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".221" = shufflevector <2 x float> %".219", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".222" = extractelement <1 x float> %".220", i32 0
  %".223" = extractelement <1 x float> %".221", i32 0
  %".224" = fadd float %".222", %".223"
  %".225" = getelementptr inbounds float, ptr %".127", i64 %"i.2"
  store float %".224", ptr %".225", align 4
  %".227" = add i64 %"i.2", 1
  br label %"loop.2"
loop.4:
  %"i.4" = phi  i64 [0, %"done.2"], [%".250", %"done.5"]
  %".230" = icmp slt i64 %"i.4", 4
  br i1 %".230", label %"body.4", label %"done.4"
body.4:
  %".232" = getelementptr inbounds float, ptr %".127", i64 %"i.4"
  %".233" = load float, ptr %".232", align 4
  br label %"loop.5"
done.4:
  ret void
loop.5:
  %"i.5" = phi  i64 [0, %"body.4"], [%".248", %"body.5"]
  %".235" = icmp slt i64 %"i.5", 16
  br i1 %".235", label %"body.5", label %"done.5"
body.5:
  %".237" = mul i64 %"i.4", 16
  %".238" = add i64 %".237", %"i.5"
  %".239" = getelementptr inbounds float, ptr %".128", i64 %".238"
  %".240" = load <4 x float>, ptr %".239", align 4
  %".241" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".233", i32 0
  %".242" = shufflevector <4 x float> %".241", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".243" = fdiv <4 x float> %".240", %".242"
  %".244" = mul i64 %"i.4", 16
  %".245" = add i64 %".244", %"i.5"
  %".246" = getelementptr inbounds float, ptr %".32", i64 %".245"
  store <4 x float> %".243", ptr %".246", align 4
  %".248" = add i64 %"i.5", 4
  br label %"loop.5"
done.5:
  %".250" = add i64 %"i.4", 1
  br label %"loop.4"
}
