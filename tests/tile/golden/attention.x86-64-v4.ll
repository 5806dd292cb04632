; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".476" = alloca <4 x float>
  %".538" = alloca <4 x float>
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
  %".23" = getelementptr ptr, ptr %".1", i64 3
  %".24" = load ptr, ptr %".23"
  %".25" = getelementptr ptr, ptr %".1", i64 4
  %".26" = load ptr, ptr %".25"
  %".27" = getelementptr i8, ptr %".3", i64 0
  %".28" = getelementptr i8, ptr %".3", i64 64
  %".29" = getelementptr i8, ptr %".3", i64 128
  %".30" = getelementptr i8, ptr %".3", i64 192
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".733", %"switch.done.2"]
  %".32" = icmp slt i64 %"i", %".12"
  br i1 %".32", label %"body", label %"done"
body:
  %".34" = trunc i64 %".15" to i32
  %".35" = trunc i64 %".13" to i32
  %".36" = trunc i64 %"i" to i32
  %".37" = trunc i64 %".8" to i32
  %".38" = trunc i64 %".10" to i32
  %".39" = trunc i64 %".12" to i32
  %".40" = trunc i64 %".15" to i32
  %".41" = trunc i64 %".13" to i32
  %".42" = trunc i64 %"i" to i32
  %".43" = sext i32 %".40" to i64
  %".44" = sext i32 %".41" to i64
  %".45" = mul i64 %".44", 4
  %".46" = sext i32 0 to i64
  %".47" = mul i64 %".46", 4
  %".48" = mul i64 %".43", 32
  %".49" = mul i64 %".45", 4
  %".50" = add i64 %".48", %".49"
  %".51" = add i64 %".50", %".47"
  %".52" = getelementptr float, ptr %".18", i64 %".51"
  %".53" = trunc i64 %".15" to i32
  %".54" = trunc i64 %".13" to i32
  %".55" = trunc i64 %"i" to i32
  %".56" = icmp sgt i32 %".53", 0
  %".57" = icmp slt i32 %".53", 0
  %".58" = select  i1 %".57", i32 4294967295, i32 0
  %".59" = select  i1 %".56", i32 1, i32 %".58"
  %".60" = icmp ne i32 %".59", 1
  %".61" = icmp eq i32 1, 0
  %".62" = icmp eq i32 %".53", 2147483648
  %".63" = icmp eq i32 1, 4294967295
  %".64" = and i1 %".62", %".63"
  %".65" = or i1 %".61", %".64"
  %".66" = select  i1 %".65", i32 1, i32 1
  %".67" = srem i32 %".53", %".66"
  %".68" = select  i1 %".61", i32 %".53", i32 %".67"
  %".69" = icmp ne i32 %".68", 0
  %".70" = and i1 %".60", %".69"
  %".71" = sub i32 %".53", 1
  %".72" = select  i1 %".70", i32 %".71", i32 %".53"
  %".73" = sext i32 %".72" to i64
  %".74" = sext i32 %".55" to i64
  %".75" = mul i64 %".74", 8
  %".76" = sext i32 0 to i64
  %".77" = mul i64 %".76", 4
  %".78" = icmp ule i64 %".73", 0
  %".79" = mul i64 %".73", 64
  %".80" = mul i64 %".75", 4
  %".81" = add i64 %".79", %".80"
  %".82" = add i64 %".81", %".77"
  %".83" = getelementptr float, ptr %".20", i64 %".82"
  %".84" = getelementptr i8, ptr %".3", i64 256
  %".85" = xor i1 %".78", -1
  br i1 %".85", label %"then", label %"end"
done:
  ret void
then:
  br label %"loop.1"
end:
  %".163" = select  i1 %".78", ptr %".83", ptr %".84"
  %".164" = trunc i64 %".15" to i32
  %".165" = trunc i64 %".13" to i32
  %".166" = trunc i64 %"i" to i32
  %".167" = icmp sgt i32 %".164", 0
  %".168" = icmp slt i32 %".164", 0
  %".169" = select  i1 %".168", i32 4294967295, i32 0
  %".170" = select  i1 %".167", i32 1, i32 %".169"
  %".171" = icmp ne i32 %".170", 1
  %".172" = icmp eq i32 1, 0
  %".173" = icmp eq i32 %".164", 2147483648
  %".174" = icmp eq i32 1, 4294967295
  %".175" = and i1 %".173", %".174"
  %".176" = or i1 %".172", %".175"
  %".177" = select  i1 %".176", i32 1, i32 1
  %".178" = srem i32 %".164", %".177"
  %".179" = select  i1 %".172", i32 %".164", i32 %".178"
  %".180" = icmp ne i32 %".179", 0
  %".181" = and i1 %".171", %".180"
  %".182" = sub i32 %".164", 1
  %".183" = select  i1 %".181", i32 %".182", i32 %".164"
  %".184" = sext i32 %".183" to i64
  %".185" = sext i32 %".166" to i64
  %".186" = mul i64 %".185", 8
  %".187" = sext i32 0 to i64
  %".188" = mul i64 %".187", 4
  %".189" = icmp ule i64 %".184", 0
  %".190" = mul i64 %".184", 64
  %".191" = mul i64 %".186", 4
  %".192" = add i64 %".190", %".191"
  %".193" = add i64 %".192", %".188"
  %".194" = getelementptr float, ptr %".22", i64 %".193"
  %".195" = getelementptr i8, ptr %".3", i64 384
  %".196" = xor i1 %".189", -1
  br i1 %".196", label %"then.1", label %"end.1"
loop.1:
  %"i.1" = phi  i64 [0, %"then"], [%".93", %"body.1"]
  %".88" = icmp slt i64 %"i.1", 8
  br i1 %".88", label %"body.1", label %"done.1"
body.1:
  %".90" = mul i64 %"i.1", 4
  %".91" = getelementptr inbounds float, ptr %".84", i64 %".90"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".91", align 4
  %".93" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  %".95" = icmp slt i64 %".73", 0
  %".96" = sub i64 0, %".73"
  %".97" = select  i1 %".95", i64 %".96", i64 0
  %".98" = sub i64 1, %".73"
  %".99" = icmp slt i64 %".98", 1
  %".100" = select  i1 %".99", i64 %".98", i64 1
  br label %"loop.2"
loop.2:
  %"i.2" = phi  i64 [%".97", %"done.1"], [%".160", %"done.3"]
  %".102" = icmp slt i64 %"i.2", %".100"
  br i1 %".102", label %"body.2", label %"done.2"
body.2:
  %".104" = add i64 %".73", %"i.2"
  %".105" = icmp slt i64 %".75", 0
  %".106" = sub i64 0, %".75"
  %".107" = select  i1 %".105", i64 %".106", i64 0
  %".108" = sub i64 16, %".75"
  %".109" = icmp slt i64 %".108", 8
  %".110" = select  i1 %".109", i64 %".108", i64 8
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".107", %"body.2"], [%".158", %"done.5"]
  %".112" = icmp slt i64 %"i.3", %".110"
  br i1 %".112", label %"body.3", label %"done.3"
body.3:
  %".114" = add i64 %".75", %"i.3"
  %".115" = icmp slt i64 %".77", 0
  %".116" = sub i64 0, %".77"
  %".117" = select  i1 %".115", i64 %".116", i64 0
  %".118" = sub i64 4, %".77"
  %".119" = icmp slt i64 %".118", 4
  %".120" = select  i1 %".119", i64 %".118", i64 4
  %".121" = sub i64 %".120", %".117"
  %".122" = and i64 %".121", -16
  %".123" = icmp sgt i64 %".120", %".117"
  %".124" = add i64 %".117", %".122"
  %".125" = select  i1 %".123", i64 %".124", i64 %".117"
  br label %"loop.4"
done.3:
  %".160" = add i64 %"i.2", 1
  br label %"loop.2"
loop.4:
  %"i.4" = phi  i64 [%".117", %"body.3"], [%".140", %"body.4"]
  %".127" = icmp slt i64 %"i.4", %".125"
  br i1 %".127", label %"body.4", label %"done.4"
body.4:
  %".129" = add i64 %".77", %"i.4"
  %".130" = mul i64 %".104", 64
  %".131" = mul i64 %".114", 4
  %".132" = add i64 %".130", %".131"
  %".133" = add i64 %".132", %".129"
  %".134" = getelementptr inbounds float, ptr %".20", i64 %".133"
  %".135" = load <16 x float>, ptr %".134", align 4
  %".136" = mul i64 %"i.3", 4
  %".137" = add i64 %".136", %"i.4"
  %".138" = getelementptr inbounds float, ptr %".84", i64 %".137"
  store <16 x float> %".135", ptr %".138", align 4
  %".140" = add i64 %"i.4", 16
  br label %"loop.4"
done.4:
  br label %"loop.5"
loop.5:
  %"i.5" = phi  i64 [%".125", %"done.4"], [%".156", %"body.5"]
  %".143" = icmp slt i64 %"i.5", %".120"
  br i1 %".143", label %"body.5", label %"done.5"
body.5:
  %".145" = add i64 %".77", %"i.5"
  %".146" = mul i64 %".104", 64
  %".147" = mul i64 %".114", 4
  %".148" = add i64 %".146", %".147"
  %".149" = add i64 %".148", %".145"
  %".150" = getelementptr inbounds float, ptr %".20", i64 %".149"
  %".151" = load float, ptr %".150", align 4
  %".152" = mul i64 %"i.3", 4
  %".153" = add i64 %".152", %"i.5"
  %".154" = getelementptr inbounds float, ptr %".84", i64 %".153"
  store float %".151", ptr %".154", align 4
  %".156" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  %".158" = add i64 %"i.3", 1
  br label %"loop.3"
then.1:
  br label %"loop.6"
end.1:
  %".274" = select  i1 %".189", ptr %".194", ptr %".195"
  %".275" = trunc i64 %".15" to i32
  %".276" = trunc i64 %".13" to i32
  %".277" = trunc i64 %"i" to i32
  %".278" = sext i32 %".275" to i64
  %".279" = sext i32 %".276" to i64
  %".280" = mul i64 %".279", 4
  %".281" = sext i32 0 to i64
  %".282" = mul i64 %".281", 4
  %".283" = mul i64 %".278", 32
  %".284" = mul i64 %".280", 4
  %".285" = add i64 %".283", %".284"
  %".286" = add i64 %".285", %".282"
  %".287" = getelementptr float, ptr %".24", i64 %".286"
  %".288" = trunc i64 %".15" to i32
  %".289" = trunc i64 %".13" to i32
  %".290" = trunc i64 %"i" to i32
  %".291" = sext i32 %".288" to i64
  %".292" = sext i32 0 to i64
  %".293" = sext i32 %".289" to i64
  %".294" = mul i64 %".293", 4
  %".295" = mul i64 %".291", 8
  %".296" = mul i64 %".292", 8
  %".297" = add i64 %".295", %".296"
  %".298" = add i64 %".297", %".294"
  %".299" = getelementptr float, ptr %".26", i64 %".298"
  %".300" = icmp eq i32 %".36", 0
  %".301" = zext i1 %".300" to i32
  %".302" = sext i32 %".301" to i64
  %".303" = icmp slt i64 %".302", 0
  %".304" = select  i1 %".303", i64 0, i64 %".302"
  switch i64 %".304", label %"case.1" [i64 0, label %"case.0"]
loop.6:
  %"i.6" = phi  i64 [0, %"then.1"], [%".204", %"body.6"]
  %".199" = icmp slt i64 %"i.6", 8
  br i1 %".199", label %"body.6", label %"done.6"
body.6:
  %".201" = mul i64 %"i.6", 4
  %".202" = getelementptr inbounds float, ptr %".195", i64 %".201"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".202", align 4
  %".204" = add i64 %"i.6", 1
  br label %"loop.6"
done.6:
  %".206" = icmp slt i64 %".184", 0
  %".207" = sub i64 0, %".184"
  %".208" = select  i1 %".206", i64 %".207", i64 0
  %".209" = sub i64 1, %".184"
  %".210" = icmp slt i64 %".209", 1
  %".211" = select  i1 %".210", i64 %".209", i64 1
  br label %"loop.7"
loop.7:
  %"i.7" = phi  i64 [%".208", %"done.6"], [%".271", %"done.8"]
  %".213" = icmp slt i64 %"i.7", %".211"
  br i1 %".213", label %"body.7", label %"done.7"
body.7:
  %".215" = add i64 %".184", %"i.7"
  %".216" = icmp slt i64 %".186", 0
  %".217" = sub i64 0, %".186"
  %".218" = select  i1 %".216", i64 %".217", i64 0
  %".219" = sub i64 16, %".186"
  %".220" = icmp slt i64 %".219", 8
  %".221" = select  i1 %".220", i64 %".219", i64 8
  br label %"loop.8"
done.7:
  br label %"end.1"
loop.8:
  %"i.8" = phi  i64 [%".218", %"body.7"], [%".269", %"done.10"]
  %".223" = icmp slt i64 %"i.8", %".221"
  br i1 %".223", label %"body.8", label %"done.8"
body.8:
  %".225" = add i64 %".186", %"i.8"
  %".226" = icmp slt i64 %".188", 0
  %".227" = sub i64 0, %".188"
  %".228" = select  i1 %".226", i64 %".227", i64 0
  %".229" = sub i64 4, %".188"
  %".230" = icmp slt i64 %".229", 4
  %".231" = select  i1 %".230", i64 %".229", i64 4
  %".232" = sub i64 %".231", %".228"
  %".233" = and i64 %".232", -16
  %".234" = icmp sgt i64 %".231", %".228"
  %".235" = add i64 %".228", %".233"
  %".236" = select  i1 %".234", i64 %".235", i64 %".228"
  br label %"loop.9"
done.8:
  %".271" = add i64 %"i.7", 1
  br label %"loop.7"
loop.9:
  %"i.9" = phi  i64 [%".228", %"body.8"], [%".251", %"body.9"]
  %".238" = icmp slt i64 %"i.9", %".236"
  br i1 %".238", label %"body.9", label %"done.9"
body.9:
  %".240" = add i64 %".188", %"i.9"
  %".241" = mul i64 %".215", 64
  %".242" = mul i64 %".225", 4
  %".243" = add i64 %".241", %".242"
  %".244" = add i64 %".243", %".240"
  %".245" = getelementptr inbounds float, ptr %".22", i64 %".244"
  %".246" = load <16 x float>, ptr %".245", align 4
  %".247" = mul i64 %"i.8", 4
  %".248" = add i64 %".247", %"i.9"
  %".249" = getelementptr inbounds float, ptr %".195", i64 %".248"
  store <16 x float> %".246", ptr %".249", align 4
  %".251" = add i64 %"i.9", 16
  br label %"loop.9"
done.9:
  br label %"loop.10"
loop.10:
  %"i.10" = phi  i64 [%".236", %"done.9"], [%".267", %"body.10"]
  %".254" = icmp slt i64 %"i.10", %".231"
  br i1 %".254", label %"body.10", label %"done.10"
body.10:
  %".256" = add i64 %".188", %"i.10"
  %".257" = mul i64 %".215", 64
  %".258" = mul i64 %".225", 4
  %".259" = add i64 %".257", %".258"
  %".260" = add i64 %".259", %".256"
  %".261" = getelementptr inbounds float, ptr %".22", i64 %".260"
  %".262" = load float, ptr %".261", align 4
  %".263" = mul i64 %"i.8", 4
  %".264" = add i64 %".263", %"i.10"
  %".265" = getelementptr inbounds float, ptr %".195", i64 %".264"
  store float %".262", ptr %".265", align 4
  %".267" = add i64 %"i.10", 1
  br label %"loop.10"
done.10:
  %".269" = add i64 %"i.8", 1
  br label %"loop.8"
switch.done:
  %".353" = mul i32 %".35", 4
  %".354" = add i32 %".353", 3
  %".355" = mul i32 %".36", 8
  %".356" = icmp sle i32 %".355", %".354"
  %".357" = zext i1 %".356" to i32
  %".358" = sext i32 %".357" to i64
  %".359" = icmp slt i64 %".358", 0
  %".360" = select  i1 %".359", i64 0, i64 %".358"
  switch i64 %".360", label %"case.1.1" [i64 0, label %"case.0.1"]
case.0:
  br label %"switch.done"
case.1:
  br label %"loop.11"
loop.11:
  %"i.11" = phi  i64 [0, %"case.1"], [%".332", %"body.11"]
  %".308" = icmp slt i64 %"i.11", 4
  br i1 %".308", label %"body.11", label %"done.11"
body.11:
  %".310" = getelementptr inbounds float, ptr %".52", i64 %"i.11"
  %".311" = getelementptr inbounds float, ptr %".52", i64 %"i.11"
  %".312" = load float, ptr %".311", align 4
  %".313" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".312", i32 0
  %".314" = add i64 4, %"i.11"
  %".315" = getelementptr inbounds float, ptr %".52", i64 %".314"
  %".316" = load float, ptr %".315", align 4
  %".317" = insertelement <4 x float> %".313", float %".316", i32 1
  %".318" = add i64 8, %"i.11"
  %".319" = getelementptr inbounds float, ptr %".52", i64 %".318"
  %".320" = load float, ptr %".319", align 4
  %".321" = insertelement <4 x float> %".317", float %".320", i32 2
  %".322" = add i64 12, %"i.11"
  %".323" = getelementptr inbounds float, ptr %".52", i64 %".322"
  %".324" = load float, ptr %".323", align 4
  %".325" = insertelement <4 x float> %".321", float %".324", i32 3
  %".326" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x3fe0000000000000, i32 0
  %".327" = shufflevector <4 x float> %".326", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".328" = fmul <4 x float> %".325", %".327"
  %".329" = mul i64 %"i.11", 4
  %".330" = getelementptr inbounds float, ptr %".27", i64 %".329"
  store <4 x float> %".328", ptr %".330", align 4
  %".332" = add i64 %"i.11", 1
  br label %"loop.11"
done.11:
  %".334" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc6293e5940000000, i32 0
  %".335" = shufflevector <4 x float> %".334", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".336" = getelementptr inbounds float, ptr %".28", i64 0
  store <4 x float> %".335", ptr %".336", align 4
  %".338" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".339" = shufflevector <4 x float> %".338", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".340" = getelementptr inbounds float, ptr %".29", i64 0
  store <4 x float> %".339", ptr %".340", align 4
  br label %"loop.12"
loop.12:
  %"i.12" = phi  i64 [0, %"done.11"], [%".350", %"body.12"]
  %".343" = icmp slt i64 %"i.12", 4
  br i1 %".343", label %"body.12", label %"done.12"
body.12:
  %".345" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".346" = shufflevector <4 x float> %".345", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".347" = mul i64 %"i.12", 4
  %".348" = getelementptr inbounds float, ptr %".30", i64 %".347"
  store <4 x float> %".346", ptr %".348", align 4
  %".350" = add i64 %"i.12", 1
  br label %"loop.12"
done.12:
  br label %"switch.done"
switch.done.1:
  %".668" = icmp eq i32 %".36", 1
  %".669" = zext i1 %".668" to i32
  %".670" = sext i32 %".669" to i64
  %".671" = icmp slt i64 %".670", 0
  %".672" = select  i1 %".671", i64 0, i64 %".670"
  switch i64 %".672", label %"case.1.2" [i64 0, label %"case.0.2"]
case.0.1:
  br label %"switch.done.1"
case.1.1:
  %".363" = getelementptr i8, ptr %".3", i64 512
  %".364" = getelementptr i8, ptr %".3", i64 640
  br label %"loop.13"
loop.13:
  %"i.13" = phi  i64 [0, %"case.1.1"], [%".472", %"k.done"]
  %".366" = icmp slt i64 %"i.13", 4
  br i1 %".366", label %"body.13", label %"done.13"
body.13:
  br label %"k"
done.13:
  %".474" = getelementptr i8, ptr %".3", i64 1152
  %".475" = getelementptr i8, ptr %".3", i64 1216
  store <4 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <4 x float>* %".476"
  br label %"loop.14"
k:
  %".369" = phi  i64 [0, %"body.13"], [%".439", %"k.body"]
  %".370" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".396", %"k.body"]
  %".371" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".402", %"k.body"]
  %".372" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".408", %"k.body"]
  %".373" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".414", %"k.body"]
  %".374" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".420", %"k.body"]
  %".375" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".426", %"k.body"]
  %".376" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".432", %"k.body"]
  %".377" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".438", %"k.body"]
  %".378" = icmp slt i64 %".369", 4
  br i1 %".378", label %"k.body", label %"k.done"
k.body:
  %".380" = add i64 %".369", 32
  %".381" = icmp slt i64 %".380", 3
  %".382" = select  i1 %".381", i64 %".380", i64 3
  %".383" = mul i64 %".382", 4
  %".384" = add i64 %".383", %"i.13"
  %".385" = getelementptr inbounds float, ptr %".27", i64 %".384"
  call void @"llvm.prefetch.p0"(ptr %".385", i32 0, i32 3, i32 1)
  %".387" = mul i64 %".369", 4
  %".388" = add i64 %".387", %"i.13"
  %".389" = getelementptr inbounds float, ptr %".27", i64 %".388"
  %".390" = load <4 x float>, ptr %".389", align 4
  %".391" = shufflevector <4 x float> %".390", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".392" = getelementptr inbounds float, ptr %".163", i64 %".369"
  %".393" = load float, ptr %".392", align 4
  %".394" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".393", i32 0
  %".395" = shufflevector <16 x float> %".394", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".396" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".395", <16 x float> %".391", <16 x float> %".370")
  %".397" = add i64 4, %".369"
  %".398" = getelementptr inbounds float, ptr %".163", i64 %".397"
  %".399" = load float, ptr %".398", align 4
  %".400" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".399", i32 0
  %".401" = shufflevector <16 x float> %".400", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".402" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".401", <16 x float> %".391", <16 x float> %".371")
  %".403" = add i64 8, %".369"
  %".404" = getelementptr inbounds float, ptr %".163", i64 %".403"
  %".405" = load float, ptr %".404", align 4
  %".406" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".405", i32 0
  %".407" = shufflevector <16 x float> %".406", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".408" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".407", <16 x float> %".391", <16 x float> %".372")
  %".409" = add i64 12, %".369"
  %".410" = getelementptr inbounds float, ptr %".163", i64 %".409"
  %".411" = load float, ptr %".410", align 4
  %".412" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".411", i32 0
  %".413" = shufflevector <16 x float> %".412", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".414" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".413", <16 x float> %".391", <16 x float> %".373")
  %".415" = add i64 16, %".369"
  %".416" = getelementptr inbounds float, ptr %".163", i64 %".415"
  %".417" = load float, ptr %".416", align 4
  %".418" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".417", i32 0
  %".419" = shufflevector <16 x float> %".418", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".420" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".419", <16 x float> %".391", <16 x float> %".374")
  %".421" = add i64 20, %".369"
  %".422" = getelementptr inbounds float, ptr %".163", i64 %".421"
  %".423" = load float, ptr %".422", align 4
  %".424" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".423", i32 0
  %".425" = shufflevector <16 x float> %".424", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".426" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".425", <16 x float> %".391", <16 x float> %".375")
  %".427" = add i64 24, %".369"
  %".428" = getelementptr inbounds float, ptr %".163", i64 %".427"
  %".429" = load float, ptr %".428", align 4
  %".430" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".429", i32 0
  %".431" = shufflevector <16 x float> %".430", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".432" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".431", <16 x float> %".391", <16 x float> %".376")
  %".433" = add i64 28, %".369"
  %".434" = getelementptr inbounds float, ptr %".163", i64 %".433"
  %".435" = load float, ptr %".434", align 4
  %".436" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".435", i32 0
  %".437" = shufflevector <16 x float> %".436", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".438" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".437", <16 x float> %".391", <16 x float> %".377")
  %".439" = add i64 %".369", 1
  br label %"k"
k.done:
  %".441" = shufflevector <16 x float> %".370", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".442" = getelementptr inbounds float, ptr %".363", i64 %"i.13"
  store <4 x float> %".441", ptr %".442", align 4
  %".444" = shufflevector <16 x float> %".371", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".445" = add i64 4, %"i.13"
  %".446" = getelementptr inbounds float, ptr %".363", i64 %".445"
  store <4 x float> %".444", ptr %".446", align 4
  %".448" = shufflevector <16 x float> %".372", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".449" = add i64 8, %"i.13"
  %".450" = getelementptr inbounds float, ptr %".363", i64 %".449"
  store <4 x float> %".448", ptr %".450", align 4
  %".452" = shufflevector <16 x float> %".373", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".453" = add i64 12, %"i.13"
  %".454" = getelementptr inbounds float, ptr %".363", i64 %".453"
  store <4 x float> %".452", ptr %".454", align 4
  %".456" = shufflevector <16 x float> %".374", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".457" = add i64 16, %"i.13"
  %".458" = getelementptr inbounds float, ptr %".363", i64 %".457"
  store <4 x float> %".456", ptr %".458", align 4
  %".460" = shufflevector <16 x float> %".375", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".461" = add i64 20, %"i.13"
  %".462" = getelementptr inbounds float, ptr %".363", i64 %".461"
  store <4 x float> %".460", ptr %".462", align 4
  %".464" = shufflevector <16 x float> %".376", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".465" = add i64 24, %"i.13"
  %".466" = getelementptr inbounds float, ptr %".363", i64 %".465"
  store <4 x float> %".464", ptr %".466", align 4
  %".468" = shufflevector <16 x float> %".377", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".469" = add i64 28, %"i.13"
  %".470" = getelementptr inbounds float, ptr %".363", i64 %".469"
  store <4 x float> %".468", ptr %".470", align 4
  %".472" = add i64 %"i.13", 4
  br label %"loop.13"
loop.14:
  %"i.14" = phi  i64 [0, %"done.13"], [%".511", %"body.14"]
  %".479" = icmp slt i64 %"i.14", 8
  br i1 %".479", label %"body.14", label %"done.14"
body.14:
  %".481" = load <4 x float>, <4 x float>* %".476"
  %".482" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".355", i32 0
  %".483" = shufflevector <4 x i32> %".482", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".484" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 %"i.14", i32 0
  %".485" = shufflevector <4 x i64> %".484", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".486" = add <4 x i64> %".485", <i64 0, i64 0, i64 0, i64 0>
  %".487" = trunc <4 x i64> %".486" to <4 x i32>
  %".488" = add <4 x i32> %".483", %".487"
  %".489" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".353", i32 0
  %".490" = shufflevector <4 x i32> %".489", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".491" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 0, i32 0
  %".492" = shufflevector <4 x i64> %".491", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".493" = add <4 x i64> %".492", <i64 0, i64 1, i64 2, i64 3>
  %".494" = trunc <4 x i64> %".493" to <4 x i32>
  %".495" = add <4 x i32> %".490", %".494"
  %".496" = icmp sle <4 x i32> %".488", %".495"
  %".497" = mul i64 %"i.14", 4
  %".498" = getelementptr inbounds float, ptr %".363", i64 %".497"
  %".499" = load <4 x float>, ptr %".498", align 4
  %".500" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc6293e5940000000, i32 0
  %".501" = shufflevector <4 x float> %".500", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".502" = select  <4 x i1> %".496", <4 x float> %".499", <4 x float> %".501"
  %".503" = mul i64 %"i.14", 4
  %".504" = getelementptr inbounds float, ptr %".475", i64 %".503"
  store <4 x float> %".502", ptr %".504", align 4
  %".506" = fcmp ogt <4 x float> %".481", %".502"
  %".507" = select  <4 x i1> %".506", <4 x float> %".481", <4 x float> %".502"
  %".508" = fcmp uno <4 x float> %".481", %".481"
  %".509" = select  <4 x i1> %".508", <4 x float> %".481", <4 x float> %".507"
  store <4 x float> %".509", <4 x float>* %".476"
  %".511" = add i64 %"i.14", 1
  br label %"loop.14"
done.14:
  %".513" = load <4 x float>, <4 x float>* %".476"
  %".514" = getelementptr inbounds float, ptr %".474", i64 0
  store <4 x float> %".513", ptr %".514", align 4
  %".516" = getelementptr i8, ptr %".3", i64 1344
  %".517" = getelementptr inbounds float, ptr %".28", i64 0
  %".518" = load <4 x float>, ptr %".517", align 4
  %".519" = getelementptr inbounds float, ptr %".474", i64 0
  %".520" = load <4 x float>, ptr %".519", align 4
  %".521" = fcmp ogt <4 x float> %".518", %".520"
  %".522" = select  <4 x i1> %".521", <4 x float> %".518", <4 x float> %".520"
  %".523" = fcmp uno <4 x float> %".518", %".518"
  %".524" = select  <4 x i1> %".523", <4 x float> %".518", <4 x float> %".522"
  %".525" = getelementptr inbounds float, ptr %".516", i64 0
  store <4 x float> %".524", ptr %".525", align 4
  %".527" = getelementptr i8, ptr %".3", i64 1408
  %".528" = getelementptr inbounds float, ptr %".28", i64 0
  %".529" = load <4 x float>, ptr %".528", align 4
  %".530" = getelementptr inbounds float, ptr %".516", i64 0
  %".531" = load <4 x float>, ptr %".530", align 4
  %".532" = fsub <4 x float> %".529", %".531"
  %".533" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".532")
  %".534" = getelementptr inbounds float, ptr %".527", i64 0
  store <4 x float> %".533", ptr %".534", align 4
  %".536" = getelementptr i8, ptr %".3", i64 1472
  %".537" = getelementptr i8, ptr %".3", i64 1536
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".538"
  br label %"loop.15"
loop.15:
  %"i.15" = phi  i64 [0, %"done.14"], [%".556", %"body.15"]
  %".541" = icmp slt i64 %"i.15", 8
  br i1 %".541", label %"body.15", label %"done.15"
body.15:
  %".543" = load <4 x float>, <4 x float>* %".538"
  %".544" = mul i64 %"i.15", 4
  %".545" = getelementptr inbounds float, ptr %".475", i64 %".544"
  %".546" = load <4 x float>, ptr %".545", align 4
  %".547" = getelementptr inbounds float, ptr %".516", i64 0
  %".548" = load <4 x float>, ptr %".547", align 4
  %".549" = fsub <4 x float> %".546", %".548"
  %".550" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".549")
  %".551" = mul i64 %"i.15", 4
  %".552" = getelementptr inbounds float, ptr %".537", i64 %".551"
  store <4 x float> %".550", ptr %".552", align 4
  %".554" = fadd <4 x float> %".543", %".550"
  store <4 x float> %".554", <4 x float>* %".538"
  %".556" = add i64 %"i.15", 1
  br label %"loop.15"
done.15:
  %".558" = load <4 x float>, <4 x float>* %".538"
  %".559" = getelementptr inbounds float, ptr %".536", i64 0
  store <4 x float> %".558", ptr %".559", align 4
  %".561" = getelementptr inbounds float, ptr %".29", i64 0
  %".562" = load <4 x float>, ptr %".561", align 4
  %".563" = getelementptr inbounds float, ptr %".527", i64 0
  %".564" = load <4 x float>, ptr %".563", align 4
  %".565" = fmul <4 x float> %".562", %".564"
  %".566" = getelementptr inbounds float, ptr %".536", i64 0
  %".567" = load <4 x float>, ptr %".566", align 4
  %".568" = fadd <4 x float> %".565", %".567"
  %".569" = getelementptr inbounds float, ptr %".29", i64 0
  store <4 x float> %".568", ptr %".569", align 4
  br label %"loop.16"
loop.16:
  %"i.16" = phi  i64 [0, %"done.15"], [%".583", %"body.16"]
  %".572" = icmp slt i64 %"i.16", 4
  br i1 %".572", label %"body.16", label %"done.16"
body.16:
  %".574" = mul i64 %"i.16", 4
  %".575" = getelementptr inbounds float, ptr %".30", i64 %".574"
  %".576" = load <4 x float>, ptr %".575", align 4
  %".577" = getelementptr inbounds float, ptr %".527", i64 0
  %".578" = load <4 x float>, ptr %".577", align 4
  %".579" = fmul <4 x float> %".576", %".578"
  %".580" = mul i64 %"i.16", 4
  %".581" = getelementptr inbounds float, ptr %".30", i64 %".580"
  store <4 x float> %".579", ptr %".581", align 4
  %".583" = add i64 %"i.16", 1
  br label %"loop.16"
done.16:
  %".585" = getelementptr i8, ptr %".3", i64 1664
  br label %"loop.17"
loop.17:
  %"i.17" = phi  i64 [0, %"done.16"], [%".661", %"k.done.1"]
  %".587" = icmp slt i64 %"i.17", 4
  br i1 %".587", label %"body.17", label %"done.17"
body.17:
  %".589" = getelementptr inbounds float, ptr %".30", i64 %"i.17"
  %".590" = load <4 x float>, ptr %".589", align 4
  %".591" = shufflevector <4 x float> %".590", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".592" = add i64 4, %"i.17"
  %".593" = getelementptr inbounds float, ptr %".30", i64 %".592"
  %".594" = load <4 x float>, ptr %".593", align 4
  %".595" = shufflevector <4 x float> %".594", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".596" = add i64 8, %"i.17"
  %".597" = getelementptr inbounds float, ptr %".30", i64 %".596"
  %".598" = load <4 x float>, ptr %".597", align 4
  %".599" = shufflevector <4 x float> %".598", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".600" = add i64 12, %"i.17"
  %".601" = getelementptr inbounds float, ptr %".30", i64 %".600"
  %".602" = load <4 x float>, ptr %".601", align 4
  %".603" = shufflevector <4 x float> %".602", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  br label %"k.1"
done.17:
  %".663" = getelementptr inbounds float, ptr %".516", i64 0
  %".664" = load <4 x float>, ptr %".663", align 4
  %".665" = getelementptr inbounds float, ptr %".28", i64 0
  store <4 x float> %".664", ptr %".665", align 4
  br label %"switch.done.1"
k.1:
  %".605" = phi  i64 [0, %"body.17"], [%".644", %"k.body.1"]
  %".606" = phi  <16 x float> [%".591", %"body.17"], [%".622", %"k.body.1"]
  %".607" = phi  <16 x float> [%".595", %"body.17"], [%".629", %"k.body.1"]
  %".608" = phi  <16 x float> [%".599", %"body.17"], [%".636", %"k.body.1"]
  %".609" = phi  <16 x float> [%".603", %"body.17"], [%".643", %"k.body.1"]
  %".610" = icmp slt i64 %".605", 8
  br i1 %".610", label %"k.body.1", label %"k.done.1"
k.body.1:
  %".612" = mul i64 %".605", 4
  %".613" = add i64 %".612", %"i.17"
  %".614" = getelementptr inbounds float, ptr %".537", i64 %".613"
  %".615" = load <4 x float>, ptr %".614", align 4
  %".616" = shufflevector <4 x float> %".615", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".617" = mul i64 %".605", 4
  %".618" = getelementptr inbounds float, ptr %".274", i64 %".617"
  %".619" = load float, ptr %".618", align 4
  %".620" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".619", i32 0
  %".621" = shufflevector <16 x float> %".620", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".622" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".621", <16 x float> %".616", <16 x float> %".606")
  %".623" = mul i64 %".605", 4
  %".624" = add i64 %".623", 1
  %".625" = getelementptr inbounds float, ptr %".274", i64 %".624"
  %".626" = load float, ptr %".625", align 4
  %".627" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".626", i32 0
  %".628" = shufflevector <16 x float> %".627", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".629" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".628", <16 x float> %".616", <16 x float> %".607")
  %".630" = mul i64 %".605", 4
  %".631" = add i64 %".630", 2
  %".632" = getelementptr inbounds float, ptr %".274", i64 %".631"
  %".633" = load float, ptr %".632", align 4
  %".634" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".633", i32 0
  %".635" = shufflevector <16 x float> %".634", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".636" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".635", <16 x float> %".616", <16 x float> %".608")
  %".637" = mul i64 %".605", 4
  %".638" = add i64 %".637", 3
  %".639" = getelementptr inbounds float, ptr %".274", i64 %".638"
  %".640" = load float, ptr %".639", align 4
  %".641" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".640", i32 0
  %".642" = shufflevector <16 x float> %".641", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".643" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".642", <16 x float> %".616", <16 x float> %".609")
  %".644" = add i64 %".605", 1
  br label %"k.1"
k.done.1:
  %".646" = shufflevector <16 x float> %".606", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".647" = getelementptr inbounds float, ptr %".30", i64 %"i.17"
  store <4 x float> %".646", ptr %".647", align 4
  %".649" = shufflevector <16 x float> %".607", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".650" = add i64 4, %"i.17"
  %".651" = getelementptr inbounds float, ptr %".30", i64 %".650"
  store <4 x float> %".649", ptr %".651", align 4
  %".653" = shufflevector <16 x float> %".608", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".654" = add i64 8, %"i.17"
  %".655" = getelementptr inbounds float, ptr %".30", i64 %".654"
  store <4 x float> %".653", ptr %".655", align 4
  %".657" = shufflevector <16 x float> %".609", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".658" = add i64 12, %"i.17"
  %".659" = getelementptr inbounds float, ptr %".30", i64 %".658"
  store <4 x float> %".657", ptr %".659", align 4
  %".661" = add i64 %"i.17", 4
  br label %"loop.17"
switch.done.2:
  %".733" = add i64 %"i", 1
  br label %"loop"
case.0.2:
  br label %"switch.done.2"
case.1.2:
  %".675" = getelementptr i8, ptr %".3", i64 3712
  %".676" = getelementptr inbounds float, ptr %".28", i64 0
  %".677" = load <4 x float>, ptr %".676", align 4
  %".678" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc6193e5940000000, i32 0
  %".679" = shufflevector <4 x float> %".678", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".680" = fcmp ogt <4 x float> %".677", %".679"
  %".681" = getelementptr inbounds i8, ptr %".675", i64 0
  %".682" = zext <4 x i1> %".680" to <4 x i8>
  store <4 x i8> %".682", ptr %".681", align 1
  br label %"loop.18"
loop.18:
  %"i.18" = phi  i64 [0, %"case.1.2"], [%".716", %"body.18"]
  %".685" = icmp slt i64 %"i.18", 4
  br i1 %".685", label %"body.18", label %"done.18"
body.18:
  %".687" = getelementptr inbounds i8, ptr %".675", i64 %"i.18"
  %".688" = load i8, ptr %".687", align 1
  %".689" = icmp ne i8 %".688", 0
  %".690" = getelementptr inbounds float, ptr %".29", i64 %"i.18"
  %".691" = load float, ptr %".690", align 4
  %".692" = fdiv float 0x3ff0000000000000, %".691"
  %".693" = select  i1 %".689", float %".692", float              0x0
  %".694" = getelementptr inbounds float, ptr %".30", i64 %"i.18"
  %".695" = getelementptr inbounds float, ptr %".30", i64 %"i.18"
  %".696" = load float, ptr %".695", align 4
  %".697" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".696", i32 0
  %".698" = add i64 4, %"i.18"
  %".699" = getelementptr inbounds float, ptr %".30", i64 %".698"
  %".700" = load float, ptr %".699", align 4
  %".701" = insertelement <4 x float> %".697", float %".700", i32 1
  %".702" = add i64 8, %"i.18"
  %".703" = getelementptr inbounds float, ptr %".30", i64 %".702"
  %".704" = load float, ptr %".703", align 4
  %".705" = insertelement <4 x float> %".701", float %".704", i32 2
  %".706" = add i64 12, %"i.18"
  %".707" = getelementptr inbounds float, ptr %".30", i64 %".706"
  %".708" = load float, ptr %".707", align 4
  %".709" = insertelement <4 x float> %".705", float %".708", i32 3
  %".710" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".693", i32 0
  %".711" = shufflevector <4 x float> %".710", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".712" = fmul <4 x float> %".709", %".711"
  %".713" = mul i64 %"i.18", 4
  %".714" = getelementptr inbounds float, ptr %".287", i64 %".713"
  store <4 x float> %".712", ptr %".714", align 4
  %".716" = add i64 %"i.18", 1
  br label %"loop.18"
done.18:
  %".718" = getelementptr inbounds i8, ptr %".675", i64 0
  %".719" = load <4 x i8>, ptr %".718", align 1
  %".720" = icmp ne <4 x i8> %".719", <i8 0, i8 0, i8 0, i8 0>
  %".721" = getelementptr inbounds float, ptr %".28", i64 0
  %".722" = load <4 x float>, ptr %".721", align 4
  %".723" = getelementptr inbounds float, ptr %".29", i64 0
  %".724" = load <4 x float>, ptr %".723", align 4
  %".725" = call <4 x float> @"tilewright.log.v4f32"(<4 x float> %".724")
  %".726" = fadd <4 x float> %".722", %".725"
  %".727" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x46293e5940000000, i32 0
  %".728" = shufflevector <4 x float> %".727", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".729" = select  <4 x i1> %".720", <4 x float> %".726", <4 x float> %".728"
  %".730" = getelementptr inbounds float, ptr %".299", i64 0
  store <4 x float> %".729", ptr %".730", align 4
  br label %"switch.done.2"
}
