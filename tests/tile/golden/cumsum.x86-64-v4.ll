; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".153" = alloca <4 x float>
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = getelementptr i64, ptr %".2", i64 1
  %".10" = load i64, ptr %".9"
  %".11" = urem i64 %".4", %".10"
  %".12" = udiv i64 %".4", %".10"
  %".13" = urem i64 %".12", %".8"
  %".14" = udiv i64 %".12", %".8"
  %".15" = getelementptr ptr, ptr %".1", i64 0
  %".16" = load ptr, ptr %".15"
  %".17" = getelementptr ptr, ptr %".1", i64 1
  %".18" = load ptr, ptr %".17"
  %".19" = getelementptr i8, ptr %".3", i64 0
  %".20" = getelementptr inbounds float, ptr %".19", i64 0
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".20", align 4
  %".22" = trunc i64 %".13" to i32
  %".23" = trunc i64 %".11" to i32
  %".24" = trunc i64 %".8" to i32
  %".25" = trunc i64 %".10" to i32
  %".26" = trunc i64 %".13" to i32
  %".27" = trunc i64 %".11" to i32
  %".28" = sext i32 %".26" to i64
  %".29" = sext i32 %".27" to i64
  %".30" = mul i64 %".28", 4
  %".31" = mul i64 %".29", 32
  %".32" = icmp ule i64 %".30", 0
  %".33" = icmp ule i64 %".31", 0
  %".34" = and i1 %".32", %".33"
  %".35" = mul i64 %".30", 32
  %".36" = add i64 %".35", %".31"
  %".37" = getelementptr float, ptr %".16", i64 %".36"
  %".38" = getelementptr i8, ptr %".3", i64 64
  %".39" = xor i1 %".34", -1
  br i1 %".39", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".88" = select  i1 %".34", ptr %".37", ptr %".38"
  %".89" = trunc i64 %".13" to i32
  %".90" = trunc i64 %".11" to i32
  %".91" = sext i32 %".89" to i64
  %".92" = sext i32 %".90" to i64
  %".93" = mul i64 %".91", 4
  %".94" = mul i64 %".92", 32
  %".95" = icmp ule i64 %".93", 0
  %".96" = icmp ule i64 %".94", 0
  %".97" = and i1 %".95", %".96"
  %".98" = mul i64 %".93", 32
  %".99" = add i64 %".98", %".94"
  %".100" = getelementptr float, ptr %".18", i64 %".99"
  %".101" = getelementptr i8, ptr %".3", i64 576
  %".102" = xor i1 %".97", -1
  br i1 %".102", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".53", %"done.1"]
  %".42" = icmp slt i64 %"i", 4
  br i1 %".42", label %"body", label %"done"
body:
  br label %"loop.1"
done:
  %".55" = icmp slt i64 %".30", 0
  %".56" = sub i64 0, %".30"
  %".57" = select  i1 %".55", i64 %".56", i64 0
  %".58" = sub i64 4, %".30"
  %".59" = icmp slt i64 %".58", 4
  %".60" = select  i1 %".59", i64 %".58", i64 4
  %".61" = icmp slt i64 %".31", 0
  %".62" = sub i64 0, %".31"
  %".63" = select  i1 %".61", i64 %".62", i64 0
  %".64" = sub i64 32, %".31"
  %".65" = icmp slt i64 %".64", 32
  %".66" = select  i1 %".65", i64 %".64", i64 32
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".51", %"body.1"]
  %".45" = icmp slt i64 %"i.1", 32
  br i1 %".45", label %"body.1", label %"done.1"
body.1:
  %".47" = mul i64 %"i", 32
  %".48" = add i64 %".47", %"i.1"
  %".49" = getelementptr inbounds float, ptr %".38", i64 %".48"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".49", align 4
  %".51" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  %".53" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [%".57", %"done"], [%".85", %"done.3"]
  %".68" = icmp slt i64 %"i.2", %".60"
  br i1 %".68", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".63", %"body.2"], [%".83", %"body.3"]
  %".71" = icmp slt i64 %"i.3", %".66"
  br i1 %".71", label %"body.3", label %"done.3"
body.3:
  %".73" = add i64 %".30", %"i.2"
  %".74" = add i64 %".31", %"i.3"
  %".75" = mul i64 %".73", 32
  %".76" = add i64 %".75", %".74"
  %".77" = getelementptr inbounds float, ptr %".16", i64 %".76"
  %".78" = load float, ptr %".77", align 4
  %".79" = mul i64 %"i.2", 32
  %".80" = add i64 %".79", %"i.3"
  %".81" = getelementptr inbounds float, ptr %".38", i64 %".80"
  store float %".78", ptr %".81", align 4
  %".83" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".85" = add i64 %"i.2", 1
  br label %"loop.2"
then.1:
  br label %"loop.4"
end.1:
  %".151" = select  i1 %".97", ptr %".100", ptr %".101"
  %".152" = getelementptr i8, ptr %".3", i64 1088
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".153"
  br label %"loop.8"
loop.4:
  %"i.4" = phi  i64 [0, %"then.1"], [%".116", %"done.5"]
  %".105" = icmp slt i64 %"i.4", 4
  br i1 %".105", label %"body.4", label %"done.4"
body.4:
  br label %"loop.5"
done.4:
  %".118" = icmp slt i64 %".93", 0
  %".119" = sub i64 0, %".93"
  %".120" = select  i1 %".118", i64 %".119", i64 0
  %".121" = sub i64 4, %".93"
  %".122" = icmp slt i64 %".121", 4
  %".123" = select  i1 %".122", i64 %".121", i64 4
  %".124" = icmp slt i64 %".94", 0
  %".125" = sub i64 0, %".94"
  %".126" = select  i1 %".124", i64 %".125", i64 0
  %".127" = sub i64 32, %".94"
  %".128" = icmp slt i64 %".127", 32
  %".129" = select  i1 %".128", i64 %".127", i64 32
  br label %"loop.6"
loop.5:
  %"i.5" = phi  i64 [0, %"body.4"], [%".114", %"body.5"]
  %".108" = icmp slt i64 %"i.5", 32
  br i1 %".108", label %"body.5", label %"done.5"
body.5:
  %".110" = mul i64 %"i.4", 32
  %".111" = add i64 %".110", %"i.5"
  %".112" = getelementptr inbounds float, ptr %".101", i64 %".111"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".112", align 4
  %".114" = add i64 %"i.5", 16
  br label %"loop.5"
done.5:
  %".116" = add i64 %"i.4", 1
  br label %"loop.4"
loop.6:
  %"i.6" = phi  i64 [%".120", %"done.4"], [%".148", %"done.7"]
  %".131" = icmp slt i64 %"i.6", %".123"
  br i1 %".131", label %"body.6", label %"done.6"
body.6:
  br label %"loop.7"
done.6:
  br label %"end.1"
loop.7:
  %"i.7" = phi  i64 [%".126", %"body.6"], [%".146", %"body.7"]
  %".134" = icmp slt i64 %"i.7", %".129"
  br i1 %".134", label %"body.7", label %"done.7"
body.7:
  %".136" = add i64 %".93", %"i.6"
  %".137" = add i64 %".94", %"i.7"
  %".138" = mul i64 %".136", 32
  %".139" = add i64 %".138", %".137"
  %".140" = getelementptr inbounds float, ptr %".18", i64 %".139"
  %".141" = load float, ptr %".140", align 4
  %".142" = mul i64 %"i.6", 32
  %".143" = add i64 %".142", %"i.7"
  %".144" = getelementptr inbounds float, ptr %".101", i64 %".143"
  store float %".141", ptr %".144", align 4
  %".146" = add i64 %"i.7", 1
  br label %"loop.7"
done.7:
  %".148" = add i64 %"i.6", 1
  br label %"loop.6"
loop.8:
  %"i.8" = phi  i64 [0, %"end.1"], [%".193", %"body.8"]
  %".156" = icmp slt i64 %"i.8", 32
  br i1 %".156", label %"body.8", label %"done.8"
body.8:
  %".158" = load <4 x float>, <4 x float>* %".153"
  %".159" = getelementptr inbounds float, ptr %".88", i64 %"i.8"
  %".160" = getelementptr inbounds float, ptr %".88", i64 %"i.8"
  %".161" = load float, ptr %".160", align 4
  %".162" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".161", i32 0
  %".163" = add i64 32, %"i.8"
  %".164" = getelementptr inbounds float, ptr %".88", i64 %".163"
  %".165" = load float, ptr %".164", align 4
  %".166" = insertelement <4 x float> %".162", float %".165", i32 1
  %".167" = add i64 64, %"i.8"
  %".168" = getelementptr inbounds float, ptr %".88", i64 %".167"
  %".169" = load float, ptr %".168", align 4
  %".170" = insertelement <4 x float> %".166", float %".169", i32 2
  %".171" = add i64 96, %"i.8"
  %".172" = getelementptr inbounds float, ptr %".88", i64 %".171"
  %".173" = load float, ptr %".172", align 4
  %".174" = insertelement <4 x float> %".170", float %".173", i32 3
  %".175" = fadd <4 x float> %".158", %".174"
  store <4 x float> %".175", <4 x float>* %".153"
  %".177" = getelementptr inbounds float, ptr %".152", i64 %"i.8"
  %".178" = getelementptr inbounds float, ptr %".152", i64 %"i.8"
  %".179" = extractelement <4 x float> %".175", i32 0
  store float %".179", ptr %".178", align 4
  %".181" = add i64 32, %"i.8"
  %".182" = getelementptr inbounds float, ptr %".152", i64 %".181"
  %".183" = extractelement <4 x float> %".175", i32 1
  store float %".183", ptr %".182", align 4
  %".185" = add i64 64, %"i.8"
  %".186" = getelementptr inbounds float, ptr %".152", i64 %".185"
  %".187" = extractelement <4 x float> %".175", i32 2
  store float %".187", ptr %".186", align 4
  %".189" = add i64 96, %"i.8"
  %".190" = getelementptr inbounds float, ptr %".152", i64 %".189"
  %".191" = extractelement <4 x float> %".175", i32 3
  store float %".191", ptr %".190", align 4
  %".193" = add i64 %"i.8", 1
  br label %"loop.8"
done.8:
  %".195" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".196" = shufflevector <4 x float> %".195", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".197" = getelementptr inbounds float, ptr %".19", i64 0
  store <4 x float> %".196", ptr %".197", align 4
  %".199" = getelementptr i8, ptr %".3", i64 1600
  br label %"loop.9"
loop.9:
  %"i.9" = phi  i64 [0, %"done.8"], [%".221", %"done.10"]
  %".201" = icmp slt i64 %"i.9", 4
  br i1 %".201", label %"body.9", label %"done.9"
body.9:
  %".203" = getelementptr inbounds float, ptr %".19", i64 %"i.9"
  %".204" = load float, ptr %".203", align 4
  br label %"loop.10"
done.9:
  br label %"loop.11"
loop.10:
  %"i.10" = phi  i64 [0, %"body.9"], [%".219", %"body.10"]
  %".206" = icmp slt i64 %"i.10", 32
  br i1 %".206", label %"body.10", label %"done.10"
body.10:
  %".208" = mul i64 %"i.9", 32
  %".209" = add i64 %".208", %"i.10"
  %".210" = getelementptr inbounds float, ptr %".152", i64 %".209"
  %".211" = load <16 x float>, ptr %".210", align 4
  %".212" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".204", i32 0
  %".213" = shufflevector <16 x float> %".212", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".214" = fadd <16 x float> %".211", %".213"
  %".215" = mul i64 %"i.9", 32
  %".216" = add i64 %".215", %"i.10"
  %".217" = getelementptr inbounds float, ptr %".199", i64 %".216"
  store <16 x float> %".214", ptr %".217", align 4
  %".219" = add i64 %"i.10", 16
  br label %"loop.10"
done.10:
  %".221" = add i64 %"i.9", 1
  br label %"loop.9"
loop.11:
  %"i.11" = phi  i64 [0, %"done.9"], [%".239", %"done.12"]
  %".224" = icmp slt i64 %"i.11", 4
  br i1 %".224", label %"body.11", label %"done.11"
body.11:
  br label %"loop.12"
done.11:
  %".241" = getelementptr inbounds float, ptr %".199", i64 31
  %".242" = getelementptr inbounds float, ptr %".199", i64 31
  %".243" = load float, ptr %".242", align 4
  %".244" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".243", i32 0
  %".245" = getelementptr inbounds float, ptr %".199", i64 63
  %".246" = load float, ptr %".245", align 4
  %".247" = insertelement <4 x float> %".244", float %".246", i32 1
  %".248" = getelementptr inbounds float, ptr %".199", i64 95
  %".249" = load float, ptr %".248", align 4
  %".250" = insertelement <4 x float> %".247", float %".249", i32 2
  %".251" = getelementptr inbounds float, ptr %".199", i64 127
  %".252" = load float, ptr %".251", align 4
  %".253" = insertelement <4 x float> %".250", float %".252", i32 3
  %".254" = getelementptr inbounds float, ptr %".19", i64 0
  store <4 x float> %".253", ptr %".254", align 4
  br i1 %".102", label %"then.2", label %"end.2"
loop.12:
  %"i.12" = phi  i64 [0, %"body.11"], [%".237", %"body.12"]
  %".227" = icmp slt i64 %"i.12", 32
  br i1 %".227", label %"body.12", label %"done.12"
body.12:
  %".229" = mul i64 %"i.11", 32
  %".230" = add i64 %".229", %"i.12"
  %".231" = getelementptr inbounds float, ptr %".199", i64 %".230"
  %".232" = load <16 x float>, ptr %".231", align 4
  %".233" = mul i64 %"i.11", 32
  %".234" = add i64 %".233", %"i.12"
  %".235" = getelementptr inbounds float, ptr %".151", i64 %".234"
  store <16 x float> %".232", ptr %".235", align 4
  %".237" = add i64 %"i.12", 16
  br label %"loop.12"
done.12:
  %".239" = add i64 %"i.11", 1
  br label %"loop.11"
then.2:
  %".257" = icmp slt i64 %".93", 0
  %".258" = sub i64 0, %".93"
  %".259" = select  i1 %".257", i64 %".258", i64 0
  %".260" = sub i64 4, %".93"
  %".261" = icmp slt i64 %".260", 4
  %".262" = select  i1 %".261", i64 %".260", i64 4
  %".263" = icmp slt i64 %".94", 0
  %".264" = sub i64 0, %".94"
  %".265" = select  i1 %".263", i64 %".264", i64 0
  %".266" = sub i64 32, %".94"
  %".267" = icmp slt i64 %".266", 32
  %".268" = select  i1 %".267", i64 %".266", i64 32
  br label %"loop.13"
end.2:
  ret void
loop.13:
  %"i.13" = phi  i64 [%".259", %"then.2"], [%".287", %"done.14"]
  %".270" = icmp slt i64 %"i.13", %".262"
  br i1 %".270", label %"body.13", label %"done.13"
body.13:
  br label %"loop.14"
done.13:
  br label %"end.2"
loop.14:
  %"i.14" = phi  i64 [%".265", %"body.13"], [%".285", %"body.14"]
  %".273" = icmp slt i64 %"i.14", %".268"
  br i1 %".273", label %"body.14", label %"done.14"
body.14:
  %".275" = add i64 %".93", %"i.13"
  %".276" = add i64 %".94", %"i.14"
  %".277" = mul i64 %"i.13", 32
  %".278" = add i64 %".277", %"i.14"
  %".279" = getelementptr inbounds float, ptr %".101", i64 %".278"
  %".280" = load float, ptr %".279", align 4
  %".281" = mul i64 %".275", 32
  %".282" = add i64 %".281", %".276"
  %".283" = getelementptr inbounds float, ptr %".18", i64 %".282"
  store float %".280", ptr %".283", align 4
  %".285" = add i64 %"i.14", 1
  br label %"loop.14"
done.14:
  %".287" = add i64 %"i.13", 1
  br label %"loop.13"
}
