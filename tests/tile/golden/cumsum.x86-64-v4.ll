; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".151" = alloca <4 x float>
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
  %".20" = trunc i64 %".13" to i32
  %".21" = trunc i64 %".11" to i32
  %".22" = trunc i64 %".8" to i32
  %".23" = trunc i64 %".10" to i32
  %".24" = trunc i64 %".13" to i32
  %".25" = trunc i64 %".11" to i32
  %".26" = sext i32 %".24" to i64
  %".27" = sext i32 %".25" to i64
  %".28" = mul i64 %".26", 4
  %".29" = mul i64 %".27", 32
  %".30" = icmp ule i64 %".28", 0
  %".31" = icmp ule i64 %".29", 0
  %".32" = and i1 %".30", %".31"
  %".33" = mul i64 %".28", 32
  %".34" = add i64 %".33", %".29"
  %".35" = getelementptr float, ptr %".16", i64 %".34"
  %".36" = getelementptr i8, ptr %".3", i64 64
  %".37" = xor i1 %".32", -1
  br i1 %".37", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".86" = select  i1 %".32", ptr %".35", ptr %".36"
  %".87" = trunc i64 %".13" to i32
  %".88" = trunc i64 %".11" to i32
  %".89" = sext i32 %".87" to i64
  %".90" = sext i32 %".88" to i64
  %".91" = mul i64 %".89", 4
  %".92" = mul i64 %".90", 32
  %".93" = icmp ule i64 %".91", 0
  %".94" = icmp ule i64 %".92", 0
  %".95" = and i1 %".93", %".94"
  %".96" = mul i64 %".91", 32
  %".97" = add i64 %".96", %".92"
  %".98" = getelementptr float, ptr %".18", i64 %".97"
  %".99" = getelementptr i8, ptr %".3", i64 576
  %".100" = xor i1 %".95", -1
  br i1 %".100", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".51", %"done.1"]
  %".40" = icmp slt i64 %"i", 4
  br i1 %".40", label %"body", label %"done"
body:
  br label %"loop.1"
done:
  %".53" = icmp slt i64 %".28", 0
  %".54" = sub i64 0, %".28"
  %".55" = select  i1 %".53", i64 %".54", i64 0
  %".56" = sub i64 4, %".28"
  %".57" = icmp slt i64 %".56", 4
  %".58" = select  i1 %".57", i64 %".56", i64 4
  %".59" = icmp slt i64 %".29", 0
  %".60" = sub i64 0, %".29"
  %".61" = select  i1 %".59", i64 %".60", i64 0
  %".62" = sub i64 32, %".29"
  %".63" = icmp slt i64 %".62", 32
  %".64" = select  i1 %".63", i64 %".62", i64 32
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".49", %"body.1"]
  %".43" = icmp slt i64 %"i.1", 32
  br i1 %".43", label %"body.1", label %"done.1"
body.1:
  %".45" = mul i64 %"i", 32
  %".46" = add i64 %".45", %"i.1"
  %".47" = getelementptr inbounds float, ptr %".36", i64 %".46"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".47", align 4
  %".49" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  %".51" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [%".55", %"done"], [%".83", %"done.3"]
  %".66" = icmp slt i64 %"i.2", %".58"
  br i1 %".66", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".61", %"body.2"], [%".81", %"body.3"]
  %".69" = icmp slt i64 %"i.3", %".64"
  br i1 %".69", label %"body.3", label %"done.3"
body.3:
  %".71" = add i64 %".28", %"i.2"
  %".72" = add i64 %".29", %"i.3"
  %".73" = mul i64 %".71", 32
  %".74" = add i64 %".73", %".72"
  %".75" = getelementptr inbounds float, ptr %".16", i64 %".74"
  %".76" = load float, ptr %".75", align 4
  %".77" = mul i64 %"i.2", 32
  %".78" = add i64 %".77", %"i.3"
  %".79" = getelementptr inbounds float, ptr %".36", i64 %".78"
  store float %".76", ptr %".79", align 4
  %".81" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".83" = add i64 %"i.2", 1
  br label %"loop.2"
then.1:
  br label %"loop.4"
end.1:
  %".149" = select  i1 %".95", ptr %".98", ptr %".99"
  %".150" = getelementptr i8, ptr %".3", i64 1088
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".151"
  br label %"loop.8"
loop.4:
  %"i.4" = phi  i64 [0, %"then.1"], [%".114", %"done.5"]
  %".103" = icmp slt i64 %"i.4", 4
  br i1 %".103", label %"body.4", label %"done.4"
body.4:
  br label %"loop.5"
done.4:
  %".116" = icmp slt i64 %".91", 0
  %".117" = sub i64 0, %".91"
  %".118" = select  i1 %".116", i64 %".117", i64 0
  %".119" = sub i64 4, %".91"
  %".120" = icmp slt i64 %".119", 4
  %".121" = select  i1 %".120", i64 %".119", i64 4
  %".122" = icmp slt i64 %".92", 0
  %".123" = sub i64 0, %".92"
  %".124" = select  i1 %".122", i64 %".123", i64 0
  %".125" = sub i64 32, %".92"
  %".126" = icmp slt i64 %".125", 32
  %".127" = select  i1 %".126", i64 %".125", i64 32
  br label %"loop.6"
loop.5:
  %"i.5" = phi  i64 [0, %"body.4"], [%".112", %"body.5"]
  %".106" = icmp slt i64 %"i.5", 32
  br i1 %".106", label %"body.5", label %"done.5"
body.5:
  %".108" = mul i64 %"i.4", 32
  %".109" = add i64 %".108", %"i.5"
  %".110" = getelementptr inbounds float, ptr %".99", i64 %".109"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".110", align 4
  %".112" = add i64 %"i.5", 16
  br label %"loop.5"
done.5:
  %".114" = add i64 %"i.4", 1
  br label %"loop.4"
loop.6:
  %"i.6" = phi  i64 [%".118", %"done.4"], [%".146", %"done.7"]
  %".129" = icmp slt i64 %"i.6", %".121"
  br i1 %".129", label %"body.6", label %"done.6"
body.6:
  br label %"loop.7"
done.6:
  br label %"end.1"
loop.7:
  %"i.7" = phi  i64 [%".124", %"body.6"], [%".144", %"body.7"]
  %".132" = icmp slt i64 %"i.7", %".127"
  br i1 %".132", label %"body.7", label %"done.7"
body.7:
  %".134" = add i64 %".91", %"i.6"
  %".135" = add i64 %".92", %"i.7"
  %".136" = mul i64 %".134", 32
  %".137" = add i64 %".136", %".135"
  %".138" = getelementptr inbounds float, ptr %".18", i64 %".137"
  %".139" = load float, ptr %".138", align 4
  %".140" = mul i64 %"i.6", 32
  %".141" = add i64 %".140", %"i.7"
  %".142" = getelementptr inbounds float, ptr %".99", i64 %".141"
  store float %".139", ptr %".142", align 4
  %".144" = add i64 %"i.7", 1
  br label %"loop.7"
done.7:
  %".146" = add i64 %"i.6", 1
  br label %"loop.6"
loop.8:
  %"i.8" = phi  i64 [0, %"end.1"], [%".191", %"body.8"]
  %".154" = icmp slt i64 %"i.8", 32
  br i1 %".154", label %"body.8", label %"done.8"
body.8:
  %".156" = load <4 x float>, <4 x float>* %".151"
  %".157" = getelementptr inbounds float, ptr %".86", i64 %"i.8"
  %".158" = getelementptr inbounds float, ptr %".86", i64 %"i.8"
  %".159" = load float, ptr %".158", align 4
  %".160" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".159", i32 0
  %".161" = add i64 32, %"i.8"
  %".162" = getelementptr inbounds float, ptr %".86", i64 %".161"
  %".163" = load float, ptr %".162", align 4
  %".164" = insertelement <4 x float> %".160", float %".163", i32 1
  %".165" = add i64 64, %"i.8"
  %".166" = getelementptr inbounds float, ptr %".86", i64 %".165"
  %".167" = load float, ptr %".166", align 4
  %".168" = insertelement <4 x float> %".164", float %".167", i32 2
  %".169" = add i64 96, %"i.8"
  %".170" = getelementptr inbounds float, ptr %".86", i64 %".169"
  %".171" = load float, ptr %".170", align 4
  %".172" = insertelement <4 x float> %".168", float %".171", i32 3
  %".173" = fadd <4 x float> %".156", %".172"
  store <4 x float> %".173", <4 x float>* %".151"
  %".175" = getelementptr inbounds float, ptr %".150", i64 %"i.8"
  %".176" = getelementptr inbounds float, ptr %".150", i64 %"i.8"
  %".177" = extractelement <4 x float> %".173", i32 0
  store float %".177", ptr %".176", align 4
  %".179" = add i64 32, %"i.8"
  %".180" = getelementptr inbounds float, ptr %".150", i64 %".179"
  %".181" = extractelement <4 x float> %".173", i32 1
  store float %".181", ptr %".180", align 4
  %".183" = add i64 64, %"i.8"
  %".184" = getelementptr inbounds float, ptr %".150", i64 %".183"
  %".185" = extractelement <4 x float> %".173", i32 2
  store float %".185", ptr %".184", align 4
  %".187" = add i64 96, %"i.8"
  %".188" = getelementptr inbounds float, ptr %".150", i64 %".187"
  %".189" = extractelement <4 x float> %".173", i32 3
  store float %".189", ptr %".188", align 4
  %".191" = add i64 %"i.8", 1
  br label %"loop.8"
done.8:
  %".193" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".194" = shufflevector <4 x float> %".193", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".195" = getelementptr inbounds float, ptr %".19", i64 0
  store <4 x float> %".194", ptr %".195", align 4
  %".197" = getelementptr i8, ptr %".3", i64 1600
  br label %"loop.9"
loop.9:
  %"i.9" = phi  i64 [0, %"done.8"], [%".219", %"done.10"]
  %".199" = icmp slt i64 %"i.9", 4
  br i1 %".199", label %"body.9", label %"done.9"
body.9:
  %".201" = getelementptr inbounds float, ptr %".19", i64 %"i.9"
  %".202" = load float, ptr %".201", align 4
  br label %"loop.10"
done.9:
  br label %"loop.11"
loop.10:
  %"i.10" = phi  i64 [0, %"body.9"], [%".217", %"body.10"]
  %".204" = icmp slt i64 %"i.10", 32
  br i1 %".204", label %"body.10", label %"done.10"
body.10:
  %".206" = mul i64 %"i.9", 32
  %".207" = add i64 %".206", %"i.10"
  %".208" = getelementptr inbounds float, ptr %".150", i64 %".207"
  %".209" = load <16 x float>, ptr %".208", align 4
  %".210" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".202", i32 0
  %".211" = shufflevector <16 x float> %".210", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".212" = fadd <16 x float> %".209", %".211"
  %".213" = mul i64 %"i.9", 32
  %".214" = add i64 %".213", %"i.10"
  %".215" = getelementptr inbounds float, ptr %".197", i64 %".214"
  store <16 x float> %".212", ptr %".215", align 4
  %".217" = add i64 %"i.10", 16
  br label %"loop.10"
done.10:
  %".219" = add i64 %"i.9", 1
  br label %"loop.9"
loop.11:
  %"i.11" = phi  i64 [0, %"done.9"], [%".237", %"done.12"]
  %".222" = icmp slt i64 %"i.11", 4
  br i1 %".222", label %"body.11", label %"done.11"
body.11:
  br label %"loop.12"
done.11:
  %".239" = getelementptr inbounds float, ptr %".197", i64 31
  %".240" = getelementptr inbounds float, ptr %".197", i64 31
  %".241" = load float, ptr %".240", align 4
  %".242" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".241", i32 0
  %".243" = getelementptr inbounds float, ptr %".197", i64 63
  %".244" = load float, ptr %".243", align 4
  %".245" = insertelement <4 x float> %".242", float %".244", i32 1
  %".246" = getelementptr inbounds float, ptr %".197", i64 95
  %".247" = load float, ptr %".246", align 4
  %".248" = insertelement <4 x float> %".245", float %".247", i32 2
  %".249" = getelementptr inbounds float, ptr %".197", i64 127
  %".250" = load float, ptr %".249", align 4
  %".251" = insertelement <4 x float> %".248", float %".250", i32 3
  %".252" = getelementptr inbounds float, ptr %".19", i64 0
  store <4 x float> %".251", ptr %".252", align 4
  br i1 %".100", label %"then.2", label %"end.2"
loop.12:
  %"i.12" = phi  i64 [0, %"body.11"], [%".235", %"body.12"]
  %".225" = icmp slt i64 %"i.12", 32
  br i1 %".225", label %"body.12", label %"done.12"
body.12:
  %".227" = mul i64 %"i.11", 32
  %".228" = add i64 %".227", %"i.12"
  %".229" = getelementptr inbounds float, ptr %".197", i64 %".228"
  %".230" = load <16 x float>, ptr %".229", align 4
  %".231" = mul i64 %"i.11", 32
  %".232" = add i64 %".231", %"i.12"
  %".233" = getelementptr inbounds float, ptr %".149", i64 %".232"
  store <16 x float> %".230", ptr %".233", align 4
  %".235" = add i64 %"i.12", 16
  br label %"loop.12"
done.12:
  %".237" = add i64 %"i.11", 1
  br label %"loop.11"
then.2:
  %".255" = icmp slt i64 %".91", 0
  %".256" = sub i64 0, %".91"
  %".257" = select  i1 %".255", i64 %".256", i64 0
  %".258" = sub i64 4, %".91"
  %".259" = icmp slt i64 %".258", 4
  %".260" = select  i1 %".259", i64 %".258", i64 4
  %".261" = icmp slt i64 %".92", 0
  %".262" = sub i64 0, %".92"
  %".263" = select  i1 %".261", i64 %".262", i64 0
  %".264" = sub i64 32, %".92"
  %".265" = icmp slt i64 %".264", 32
  %".266" = select  i1 %".265", i64 %".264", i64 32
  br label %"loop.13"
end.2:
  ret void
loop.13:
  %"i.13" = phi  i64 [%".257", %"then.2"], [%".285", %"done.14"]
  %".268" = icmp slt i64 %"i.13", %".260"
  br i1 %".268", label %"body.13", label %"done.13"
body.13:
  br label %"loop.14"
done.13:
  br label %"end.2"
loop.14:
  %"i.14" = phi  i64 [%".263", %"body.13"], [%".283", %"body.14"]
  %".271" = icmp slt i64 %"i.14", %".266"
  br i1 %".271", label %"body.14", label %"done.14"
body.14:
  %".273" = add i64 %".91", %"i.13"
  %".274" = add i64 %".92", %"i.14"
  %".275" = mul i64 %"i.13", 32
  %".276" = add i64 %".275", %"i.14"
  %".277" = getelementptr inbounds float, ptr %".99", i64 %".276"
  %".278" = load float, ptr %".277", align 4
  %".279" = mul i64 %".273", 32
  %".280" = add i64 %".279", %".274"
  %".281" = getelementptr inbounds float, ptr %".18", i64 %".280"
  store float %".278", ptr %".281", align 4
  %".283" = add i64 %"i.14", 1
  br label %"loop.14"
done.14:
  %".285" = add i64 %"i.13", 1
  br label %"loop.13"
}
