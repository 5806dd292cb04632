; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".480" = alloca <4 x float>
  %".542" = alloca <4 x float>
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
  %"i" = phi  i64 [0, %"start"], [%".737", %"switch.done.2"]
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
  %".165" = select  i1 %".78", ptr %".83", ptr %".84"
  %".166" = trunc i64 %".15" to i32
  %".167" = trunc i64 %".13" to i32
  %".168" = trunc i64 %"i" to i32
  %".169" = icmp sgt i32 %".166", 0
  %".170" = icmp slt i32 %".166", 0
  %".171" = select  i1 %".170", i32 4294967295, i32 0
  %".172" = select  i1 %".169", i32 1, i32 %".171"
  %".173" = icmp ne i32 %".172", 1
  %".174" = icmp eq i32 1, 0
  %".175" = icmp eq i32 %".166", 2147483648
  %".176" = icmp eq i32 1, 4294967295
  %".177" = and i1 %".175", %".176"
  %".178" = or i1 %".174", %".177"
  %".179" = select  i1 %".178", i32 1, i32 1
  %".180" = srem i32 %".166", %".179"
  %".181" = select  i1 %".174", i32 %".166", i32 %".180"
  %".182" = icmp ne i32 %".181", 0
  %".183" = and i1 %".173", %".182"
  %".184" = sub i32 %".166", 1
  %".185" = select  i1 %".183", i32 %".184", i32 %".166"
  %".186" = sext i32 %".185" to i64
  %".187" = sext i32 %".168" to i64
  %".188" = mul i64 %".187", 8
  %".189" = sext i32 0 to i64
  %".190" = mul i64 %".189", 4
  %".191" = icmp ule i64 %".186", 0
  %".192" = mul i64 %".186", 64
  %".193" = mul i64 %".188", 4
  %".194" = add i64 %".192", %".193"
  %".195" = add i64 %".194", %".190"
  %".196" = getelementptr float, ptr %".22", i64 %".195"
  %".197" = getelementptr i8, ptr %".3", i64 384
  %".198" = xor i1 %".191", -1
  br i1 %".198", label %"then.1", label %"end.1"
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
  %"i.2" = phi  i64 [%".97", %"done.1"], [%".162", %"done.3"]
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
  %"i.3" = phi  i64 [%".107", %"body.2"], [%".160", %"done.5"]
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
  %".121" = icmp sgt i64 %".120", %".117"
  %".122" = sub i64 %".120", %".117"
  %".123" = select  i1 %".121", i64 %".122", i64 0
  %".124" = add i64 %".77", %".117"
  %".125" = and i64 %".123", -16
  br label %"loop.4"
done.3:
  %".162" = add i64 %"i.2", 1
  br label %"loop.2"
loop.4:
  %"i.4" = phi  i64 [0, %"body.3"], [%".141", %"body.4"]
  %".127" = icmp slt i64 %"i.4", %".125"
  br i1 %".127", label %"body.4", label %"done.4"
body.4:
  %".129" = add i64 %".124", %"i.4"
  %".130" = add i64 %".117", %"i.4"
  %".131" = mul i64 %".104", 64
  %".132" = mul i64 %".114", 4
  %".133" = add i64 %".131", %".132"
  %".134" = add i64 %".133", %".129"
  %".135" = getelementptr inbounds float, ptr %".20", i64 %".134"
  %".136" = load <16 x float>, ptr %".135", align 4
  %".137" = mul i64 %"i.3", 4
  %".138" = add i64 %".137", %".130"
  %".139" = getelementptr inbounds float, ptr %".84", i64 %".138"
  store <16 x float> %".136", ptr %".139", align 4
  %".141" = add i64 %"i.4", 16
  br label %"loop.4"
done.4:
  br label %"loop.5"
loop.5:
  %"i.5" = phi  i64 [%".125", %"done.4"], [%".158", %"body.5"]
  %".144" = icmp slt i64 %"i.5", %".123"
  br i1 %".144", label %"body.5", label %"done.5"
body.5:
  %".146" = add i64 %".124", %"i.5"
  %".147" = add i64 %".117", %"i.5"
  %".148" = mul i64 %".104", 64
  %".149" = mul i64 %".114", 4
  %".150" = add i64 %".148", %".149"
  %".151" = add i64 %".150", %".146"
  %".152" = getelementptr inbounds float, ptr %".20", i64 %".151"
  %".153" = load float, ptr %".152", align 4
  %".154" = mul i64 %"i.3", 4
  %".155" = add i64 %".154", %".147"
  %".156" = getelementptr inbounds float, ptr %".84", i64 %".155"
  store float %".153", ptr %".156", align 4
  %".158" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  %".160" = add i64 %"i.3", 1
  br label %"loop.3"
then.1:
  br label %"loop.6"
end.1:
  %".278" = select  i1 %".191", ptr %".196", ptr %".197"
  %".279" = trunc i64 %".15" to i32
  %".280" = trunc i64 %".13" to i32
  %".281" = trunc i64 %"i" to i32
  %".282" = sext i32 %".279" to i64
  %".283" = sext i32 %".280" to i64
  %".284" = mul i64 %".283", 4
  %".285" = sext i32 0 to i64
  %".286" = mul i64 %".285", 4
  %".287" = mul i64 %".282", 32
  %".288" = mul i64 %".284", 4
  %".289" = add i64 %".287", %".288"
  %".290" = add i64 %".289", %".286"
  %".291" = getelementptr float, ptr %".24", i64 %".290"
  %".292" = trunc i64 %".15" to i32
  %".293" = trunc i64 %".13" to i32
  %".294" = trunc i64 %"i" to i32
  %".295" = sext i32 %".292" to i64
  %".296" = sext i32 0 to i64
  %".297" = sext i32 %".293" to i64
  %".298" = mul i64 %".297", 4
  %".299" = mul i64 %".295", 8
  %".300" = mul i64 %".296", 8
  %".301" = add i64 %".299", %".300"
  %".302" = add i64 %".301", %".298"
  %".303" = getelementptr float, ptr %".26", i64 %".302"
  %".304" = icmp eq i32 %".36", 0
  %".305" = zext i1 %".304" to i32
  %".306" = sext i32 %".305" to i64
  %".307" = icmp slt i64 %".306", 0
  %".308" = select  i1 %".307", i64 0, i64 %".306"
  switch i64 %".308", label %"case.1" [i64 0, label %"case.0"]
loop.6:
  %"i.6" = phi  i64 [0, %"then.1"], [%".206", %"body.6"]
  %".201" = icmp slt i64 %"i.6", 8
  br i1 %".201", label %"body.6", label %"done.6"
body.6:
  %".203" = mul i64 %"i.6", 4
  %".204" = getelementptr inbounds float, ptr %".197", i64 %".203"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".204", align 4
  %".206" = add i64 %"i.6", 1
  br label %"loop.6"
done.6:
  %".208" = icmp slt i64 %".186", 0
  %".209" = sub i64 0, %".186"
  %".210" = select  i1 %".208", i64 %".209", i64 0
  %".211" = sub i64 1, %".186"
  %".212" = icmp slt i64 %".211", 1
  %".213" = select  i1 %".212", i64 %".211", i64 1
  br label %"loop.7"
loop.7:
  %"i.7" = phi  i64 [%".210", %"done.6"], [%".275", %"done.8"]
  %".215" = icmp slt i64 %"i.7", %".213"
  br i1 %".215", label %"body.7", label %"done.7"
body.7:
  %".217" = add i64 %".186", %"i.7"
  %".218" = icmp slt i64 %".188", 0
  %".219" = sub i64 0, %".188"
  %".220" = select  i1 %".218", i64 %".219", i64 0
  %".221" = sub i64 16, %".188"
  %".222" = icmp slt i64 %".221", 8
  %".223" = select  i1 %".222", i64 %".221", i64 8
  br label %"loop.8"
done.7:
  br label %"end.1"
loop.8:
  %"i.8" = phi  i64 [%".220", %"body.7"], [%".273", %"done.10"]
  %".225" = icmp slt i64 %"i.8", %".223"
  br i1 %".225", label %"body.8", label %"done.8"
body.8:
  %".227" = add i64 %".188", %"i.8"
  %".228" = icmp slt i64 %".190", 0
  %".229" = sub i64 0, %".190"
  %".230" = select  i1 %".228", i64 %".229", i64 0
  %".231" = sub i64 4, %".190"
  %".232" = icmp slt i64 %".231", 4
  %".233" = select  i1 %".232", i64 %".231", i64 4
  %".234" = icmp sgt i64 %".233", %".230"
  %".235" = sub i64 %".233", %".230"
  %".236" = select  i1 %".234", i64 %".235", i64 0
  %".237" = add i64 %".190", %".230"
  %".238" = and i64 %".236", -16
  br label %"loop.9"
done.8:
  %".275" = add i64 %"i.7", 1
  br label %"loop.7"
loop.9:
  %"i.9" = phi  i64 [0, %"body.8"], [%".254", %"body.9"]
  %".240" = icmp slt i64 %"i.9", %".238"
  br i1 %".240", label %"body.9", label %"done.9"
body.9:
  %".242" = add i64 %".237", %"i.9"
  %".243" = add i64 %".230", %"i.9"
  %".244" = mul i64 %".217", 64
  %".245" = mul i64 %".227", 4
  %".246" = add i64 %".244", %".245"
  %".247" = add i64 %".246", %".242"
  %".248" = getelementptr inbounds float, ptr %".22", i64 %".247"
  %".249" = load <16 x float>, ptr %".248", align 4
  %".250" = mul i64 %"i.8", 4
  %".251" = add i64 %".250", %".243"
  %".252" = getelementptr inbounds float, ptr %".197", i64 %".251"
  store <16 x float> %".249", ptr %".252", align 4
  %".254" = add i64 %"i.9", 16
  br label %"loop.9"
done.9:
  br label %"loop.10"
loop.10:
  %"i.10" = phi  i64 [%".238", %"done.9"], [%".271", %"body.10"]
  %".257" = icmp slt i64 %"i.10", %".236"
  br i1 %".257", label %"body.10", label %"done.10"
body.10:
  %".259" = add i64 %".237", %"i.10"
  %".260" = add i64 %".230", %"i.10"
  %".261" = mul i64 %".217", 64
  %".262" = mul i64 %".227", 4
  %".263" = add i64 %".261", %".262"
  %".264" = add i64 %".263", %".259"
  %".265" = getelementptr inbounds float, ptr %".22", i64 %".264"
  %".266" = load float, ptr %".265", align 4
  %".267" = mul i64 %"i.8", 4
  %".268" = add i64 %".267", %".260"
  %".269" = getelementptr inbounds float, ptr %".197", i64 %".268"
  store float %".266", ptr %".269", align 4
  %".271" = add i64 %"i.10", 1
  br label %"loop.10"
done.10:
  %".273" = add i64 %"i.8", 1
  br label %"loop.8"
switch.done:
  %".357" = mul i32 %".35", 4
  %".358" = add i32 %".357", 3
  %".359" = mul i32 %".36", 8
  %".360" = icmp sle i32 %".359", %".358"
  %".361" = zext i1 %".360" to i32
  %".362" = sext i32 %".361" to i64
  %".363" = icmp slt i64 %".362", 0
  %".364" = select  i1 %".363", i64 0, i64 %".362"
  switch i64 %".364", label %"case.1.1" [i64 0, label %"case.0.1"]
case.0:
  br label %"switch.done"
case.1:
  br label %"loop.11"
loop.11:
  %"i.11" = phi  i64 [0, %"case.1"], [%".336", %"body.11"]
  %".312" = icmp slt i64 %"i.11", 4
  br i1 %".312", label %"body.11", label %"done.11"
body.11:
  %".314" = getelementptr inbounds float, ptr %".52", i64 %"i.11"
  %".315" = getelementptr inbounds float, ptr %".52", i64 %"i.11"
  %".316" = load float, ptr %".315", align 4
  %".317" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".316", i32 0
  %".318" = add i64 4, %"i.11"
  %".319" = getelementptr inbounds float, ptr %".52", i64 %".318"
  %".320" = load float, ptr %".319", align 4
  %".321" = insertelement <4 x float> %".317", float %".320", i32 1
  %".322" = add i64 8, %"i.11"
  %".323" = getelementptr inbounds float, ptr %".52", i64 %".322"
  %".324" = load float, ptr %".323", align 4
  %".325" = insertelement <4 x float> %".321", float %".324", i32 2
  %".326" = add i64 12, %"i.11"
  %".327" = getelementptr inbounds float, ptr %".52", i64 %".326"
  %".328" = load float, ptr %".327", align 4
  %".329" = insertelement <4 x float> %".325", float %".328", i32 3
  %".330" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x3fe0000000000000, i32 0
  %".331" = shufflevector <4 x float> %".330", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".332" = fmul <4 x float> %".329", %".331"
  %".333" = mul i64 %"i.11", 4
  %".334" = getelementptr inbounds float, ptr %".27", i64 %".333"
  store <4 x float> %".332", ptr %".334", align 4
  %".336" = add i64 %"i.11", 1
  br label %"loop.11"
done.11:
  %".338" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc6293e5940000000, i32 0
  %".339" = shufflevector <4 x float> %".338", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".340" = getelementptr inbounds float, ptr %".28", i64 0
  store <4 x float> %".339", ptr %".340", align 4
  %".342" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".343" = shufflevector <4 x float> %".342", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".344" = getelementptr inbounds float, ptr %".29", i64 0
  store <4 x float> %".343", ptr %".344", align 4
  br label %"loop.12"
loop.12:
  %"i.12" = phi  i64 [0, %"done.11"], [%".354", %"body.12"]
  %".347" = icmp slt i64 %"i.12", 4
  br i1 %".347", label %"body.12", label %"done.12"
body.12:
  %".349" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".350" = shufflevector <4 x float> %".349", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".351" = mul i64 %"i.12", 4
  %".352" = getelementptr inbounds float, ptr %".30", i64 %".351"
  store <4 x float> %".350", ptr %".352", align 4
  %".354" = add i64 %"i.12", 1
  br label %"loop.12"
done.12:
  br label %"switch.done"
switch.done.1:
  %".672" = icmp eq i32 %".36", 1
  %".673" = zext i1 %".672" to i32
  %".674" = sext i32 %".673" to i64
  %".675" = icmp slt i64 %".674", 0
  %".676" = select  i1 %".675", i64 0, i64 %".674"
  switch i64 %".676", label %"case.1.2" [i64 0, label %"case.0.2"]
case.0.1:
  br label %"switch.done.1"
case.1.1:
  %".367" = getelementptr i8, ptr %".3", i64 512
  %".368" = getelementptr i8, ptr %".3", i64 640
  br label %"loop.13"
loop.13:
  %"i.13" = phi  i64 [0, %"case.1.1"], [%".476", %"k.done"]
  %".370" = icmp slt i64 %"i.13", 4
  br i1 %".370", label %"body.13", label %"done.13"
body.13:
  br label %"k"
done.13:
  %".478" = getelementptr i8, ptr %".3", i64 1152
  %".479" = getelementptr i8, ptr %".3", i64 1216
  store <4 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <4 x float>* %".480"
  br label %"loop.14"
k:
  %".373" = phi  i64 [0, %"body.13"], [%".443", %"k.body"]
  %".374" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".400", %"k.body"]
  %".375" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".406", %"k.body"]
  %".376" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".412", %"k.body"]
  %".377" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".418", %"k.body"]
  %".378" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".424", %"k.body"]
  %".379" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".430", %"k.body"]
  %".380" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".436", %"k.body"]
  %".381" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.13"], [%".442", %"k.body"]
  %".382" = icmp slt i64 %".373", 4
  br i1 %".382", label %"k.body", label %"k.done"
k.body:
  %".384" = add i64 %".373", 32
  %".385" = icmp slt i64 %".384", 3
  %".386" = select  i1 %".385", i64 %".384", i64 3
  %".387" = mul i64 %".386", 4
  %".388" = add i64 %".387", %"i.13"
  %".389" = getelementptr inbounds float, ptr %".27", i64 %".388"
  call void @"llvm.prefetch.p0"(ptr %".389", i32 0, i32 3, i32 1)
  %".391" = mul i64 %".373", 4
  %".392" = add i64 %".391", %"i.13"
  %".393" = getelementptr inbounds float, ptr %".27", i64 %".392"
  %".394" = load <4 x float>, ptr %".393", align 4
  %".395" = shufflevector <4 x float> %".394", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".396" = getelementptr inbounds float, ptr %".165", i64 %".373"
  %".397" = load float, ptr %".396", align 4
  %".398" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".397", i32 0
  %".399" = shufflevector <16 x float> %".398", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".400" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".399", <16 x float> %".395", <16 x float> %".374")
  %".401" = add i64 4, %".373"
  %".402" = getelementptr inbounds float, ptr %".165", i64 %".401"
  %".403" = load float, ptr %".402", align 4
  %".404" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".403", i32 0
  %".405" = shufflevector <16 x float> %".404", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".406" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".405", <16 x float> %".395", <16 x float> %".375")
  %".407" = add i64 8, %".373"
  %".408" = getelementptr inbounds float, ptr %".165", i64 %".407"
  %".409" = load float, ptr %".408", align 4
  %".410" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".409", i32 0
  %".411" = shufflevector <16 x float> %".410", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".412" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".411", <16 x float> %".395", <16 x float> %".376")
  %".413" = add i64 12, %".373"
  %".414" = getelementptr inbounds float, ptr %".165", i64 %".413"
  %".415" = load float, ptr %".414", align 4
  %".416" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".415", i32 0
  %".417" = shufflevector <16 x float> %".416", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".418" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".417", <16 x float> %".395", <16 x float> %".377")
  %".419" = add i64 16, %".373"
  %".420" = getelementptr inbounds float, ptr %".165", i64 %".419"
  %".421" = load float, ptr %".420", align 4
  %".422" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".421", i32 0
  %".423" = shufflevector <16 x float> %".422", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".424" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".423", <16 x float> %".395", <16 x float> %".378")
  %".425" = add i64 20, %".373"
  %".426" = getelementptr inbounds float, ptr %".165", i64 %".425"
  %".427" = load float, ptr %".426", align 4
  %".428" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".427", i32 0
  %".429" = shufflevector <16 x float> %".428", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".430" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".429", <16 x float> %".395", <16 x float> %".379")
  %".431" = add i64 24, %".373"
  %".432" = getelementptr inbounds float, ptr %".165", i64 %".431"
  %".433" = load float, ptr %".432", align 4
  %".434" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".433", i32 0
  %".435" = shufflevector <16 x float> %".434", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".436" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".435", <16 x float> %".395", <16 x float> %".380")
  %".437" = add i64 28, %".373"
  %".438" = getelementptr inbounds float, ptr %".165", i64 %".437"
  %".439" = load float, ptr %".438", align 4
  %".440" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".439", i32 0
  %".441" = shufflevector <16 x float> %".440", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".442" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".441", <16 x float> %".395", <16 x float> %".381")
  %".443" = add i64 %".373", 1
  br label %"k"
k.done:
  %".445" = shufflevector <16 x float> %".374", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".446" = getelementptr inbounds float, ptr %".367", i64 %"i.13"
  store <4 x float> %".445", ptr %".446", align 4
  %".448" = shufflevector <16 x float> %".375", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".449" = add i64 4, %"i.13"
  %".450" = getelementptr inbounds float, ptr %".367", i64 %".449"
  store <4 x float> %".448", ptr %".450", align 4
  %".452" = shufflevector <16 x float> %".376", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".453" = add i64 8, %"i.13"
  %".454" = getelementptr inbounds float, ptr %".367", i64 %".453"
  store <4 x float> %".452", ptr %".454", align 4
  %".456" = shufflevector <16 x float> %".377", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".457" = add i64 12, %"i.13"
  %".458" = getelementptr inbounds float, ptr %".367", i64 %".457"
  store <4 x float> %".456", ptr %".458", align 4
  %".460" = shufflevector <16 x float> %".378", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".461" = add i64 16, %"i.13"
  %".462" = getelementptr inbounds float, ptr %".367", i64 %".461"
  store <4 x float> %".460", ptr %".462", align 4
  %".464" = shufflevector <16 x float> %".379", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".465" = add i64 20, %"i.13"
  %".466" = getelementptr inbounds float, ptr %".367", i64 %".465"
  store <4 x float> %".464", ptr %".466", align 4
  %".468" = shufflevector <16 x float> %".380", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".469" = add i64 24, %"i.13"
  %".470" = getelementptr inbounds float, ptr %".367", i64 %".469"
  store <4 x float> %".468", ptr %".470", align 4
  %".472" = shufflevector <16 x float> %".381", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".473" = add i64 28, %"i.13"
  %".474" = getelementptr inbounds float, ptr %".367", i64 %".473"
  store <4 x float> %".472", ptr %".474", align 4
  %".476" = add i64 %"i.13", 4
  br label %"loop.13"
loop.14:
  %"i.14" = phi  i64 [0, %"done.13"], [%".515", %"body.14"]
  %".483" = icmp slt i64 %"i.14", 8
  br i1 %".483", label %"body.14", label %"done.14"
body.14:
  %".485" = load <4 x float>, <4 x float>* %".480"
  %".486" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".359", i32 0
  %".487" = shufflevector <4 x i32> %".486", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".488" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 %"i.14", i32 0
  %".489" = shufflevector <4 x i64> %".488", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".490" = add <4 x i64> %".489", <i64 0, i64 0, i64 0, i64 0>
  %".491" = trunc <4 x i64> %".490" to <4 x i32>
  %".492" = add <4 x i32> %".487", %".491"
  %".493" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".357", i32 0
  %".494" = shufflevector <4 x i32> %".493", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".495" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 0, i32 0
  %".496" = shufflevector <4 x i64> %".495", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".497" = add <4 x i64> %".496", <i64 0, i64 1, i64 2, i64 3>
  %".498" = trunc <4 x i64> %".497" to <4 x i32>
  %".499" = add <4 x i32> %".494", %".498"
  %".500" = icmp sle <4 x i32> %".492", %".499"
  %".501" = mul i64 %"i.14", 4
  %".502" = getelementptr inbounds float, ptr %".367", i64 %".501"
  %".503" = load <4 x float>, ptr %".502", align 4
  %".504" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc6293e5940000000, i32 0
  %".505" = shufflevector <4 x float> %".504", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".506" = select  <4 x i1> %".500", <4 x float> %".503", <4 x float> %".505"
  %".507" = mul i64 %"i.14", 4
  %".508" = getelementptr inbounds float, ptr %".479", i64 %".507"
  store <4 x float> %".506", ptr %".508", align 4
  %".510" = fcmp ogt <4 x float> %".485", %".506"
  %".511" = select  <4 x i1> %".510", <4 x float> %".485", <4 x float> %".506"
  %".512" = fcmp uno <4 x float> %".485", %".485"
  %".513" = select  <4 x i1> %".512", <4 x float> %".485", <4 x float> %".511"
  store <4 x float> %".513", <4 x float>* %".480"
  %".515" = add i64 %"i.14", 1
  br label %"loop.14"
done.14:
  %".517" = load <4 x float>, <4 x float>* %".480"
  %".518" = getelementptr inbounds float, ptr %".478", i64 0
  store <4 x float> %".517", ptr %".518", align 4
  %".520" = getelementptr i8, ptr %".3", i64 1344
  %".521" = getelementptr inbounds float, ptr %".28", i64 0
  %".522" = load <4 x float>, ptr %".521", align 4
  %".523" = getelementptr inbounds float, ptr %".478", i64 0
  %".524" = load <4 x float>, ptr %".523", align 4
  %".525" = fcmp ogt <4 x float> %".522", %".524"
  %".526" = select  <4 x i1> %".525", <4 x float> %".522", <4 x float> %".524"
  %".527" = fcmp uno <4 x float> %".522", %".522"
  %".528" = select  <4 x i1> %".527", <4 x float> %".522", <4 x float> %".526"
  %".529" = getelementptr inbounds float, ptr %".520", i64 0
  store <4 x float> %".528", ptr %".529", align 4
  %".531" = getelementptr i8, ptr %".3", i64 1408
  %".532" = getelementptr inbounds float, ptr %".28", i64 0
  %".533" = load <4 x float>, ptr %".532", align 4
  %".534" = getelementptr inbounds float, ptr %".520", i64 0
  %".535" = load <4 x float>, ptr %".534", align 4
  %".536" = fsub <4 x float> %".533", %".535"
  %".537" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".536")
  %".538" = getelementptr inbounds float, ptr %".531", i64 0
  store <4 x float> %".537", ptr %".538", align 4
  %".540" = getelementptr i8, ptr %".3", i64 1472
  %".541" = getelementptr i8, ptr %".3", i64 1536
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".542"
  br label %"loop.15"
loop.15:
  %"i.15" = phi  i64 [0, %"done.14"], [%".560", %"body.15"]
  %".545" = icmp slt i64 %"i.15", 8
  br i1 %".545", label %"body.15", label %"done.15"
body.15:
  %".547" = load <4 x float>, <4 x float>* %".542"
  %".548" = mul i64 %"i.15", 4
  %".549" = getelementptr inbounds float, ptr %".479", i64 %".548"
  %".550" = load <4 x float>, ptr %".549", align 4
  %".551" = getelementptr inbounds float, ptr %".520", i64 0
  %".552" = load <4 x float>, ptr %".551", align 4
  %".553" = fsub <4 x float> %".550", %".552"
  %".554" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".553")
  %".555" = mul i64 %"i.15", 4
  %".556" = getelementptr inbounds float, ptr %".541", i64 %".555"
  store <4 x float> %".554", ptr %".556", align 4
  %".558" = fadd <4 x float> %".547", %".554"
  store <4 x float> %".558", <4 x float>* %".542"
  %".560" = add i64 %"i.15", 1
  br label %"loop.15"
done.15:
  %".562" = load <4 x float>, <4 x float>* %".542"
  %".563" = getelementptr inbounds float, ptr %".540", i64 0
  store <4 x float> %".562", ptr %".563", align 4
  %".565" = getelementptr inbounds float, ptr %".29", i64 0
  %".566" = load <4 x float>, ptr %".565", align 4
  %".567" = getelementptr inbounds float, ptr %".531", i64 0
  %".568" = load <4 x float>, ptr %".567", align 4
  %".569" = fmul <4 x float> %".566", %".568"
  %".570" = getelementptr inbounds float, ptr %".540", i64 0
  %".571" = load <4 x float>, ptr %".570", align 4
  %".572" = fadd <4 x float> %".569", %".571"
  %".573" = getelementptr inbounds float, ptr %".29", i64 0
  store <4 x float> %".572", ptr %".573", align 4
  br label %"loop.16"
loop.16:
  %"i.16" = phi  i64 [0, %"done.15"], [%".587", %"body.16"]
  %".576" = icmp slt i64 %"i.16", 4
  br i1 %".576", label %"body.16", label %"done.16"
body.16:
  %".578" = mul i64 %"i.16", 4
  %".579" = getelementptr inbounds float, ptr %".30", i64 %".578"
  %".580" = load <4 x float>, ptr %".579", align 4
  %".581" = getelementptr inbounds float, ptr %".531", i64 0
  %".582" = load <4 x float>, ptr %".581", align 4
  %".583" = fmul <4 x float> %".580", %".582"
  %".584" = mul i64 %"i.16", 4
  %".585" = getelementptr inbounds float, ptr %".30", i64 %".584"
  store <4 x float> %".583", ptr %".585", align 4
  %".587" = add i64 %"i.16", 1
  br label %"loop.16"
done.16:
  %".589" = getelementptr i8, ptr %".3", i64 1664
  br label %"loop.17"
loop.17:
  %"i.17" = phi  i64 [0, %"done.16"], [%".665", %"k.done.1"]
  %".591" = icmp slt i64 %"i.17", 4
  br i1 %".591", label %"body.17", label %"done.17"
body.17:
  %".593" = getelementptr inbounds float, ptr %".30", i64 %"i.17"
  %".594" = load <4 x float>, ptr %".593", align 4
  %".595" = shufflevector <4 x float> %".594", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".596" = add i64 4, %"i.17"
  %".597" = getelementptr inbounds float, ptr %".30", i64 %".596"
  %".598" = load <4 x float>, ptr %".597", align 4
  %".599" = shufflevector <4 x float> %".598", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".600" = add i64 8, %"i.17"
  %".601" = getelementptr inbounds float, ptr %".30", i64 %".600"
  %".602" = load <4 x float>, ptr %".601", align 4
  %".603" = shufflevector <4 x float> %".602", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".604" = add i64 12, %"i.17"
  %".605" = getelementptr inbounds float, ptr %".30", i64 %".604"
  %".606" = load <4 x float>, ptr %".605", align 4
  %".607" = shufflevector <4 x float> %".606", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  br label %"k.1"
done.17:
  %".667" = getelementptr inbounds float, ptr %".520", i64 0
  %".668" = load <4 x float>, ptr %".667", align 4
  %".669" = getelementptr inbounds float, ptr %".28", i64 0
  store <4 x float> %".668", ptr %".669", align 4
  br label %"switch.done.1"
k.1:
  %".609" = phi  i64 [0, %"body.17"], [%".648", %"k.body.1"]
  %".610" = phi  <16 x float> [%".595", %"body.17"], [%".626", %"k.body.1"]
  %".611" = phi  <16 x float> [%".599", %"body.17"], [%".633", %"k.body.1"]
  %".612" = phi  <16 x float> [%".603", %"body.17"], [%".640", %"k.body.1"]
  %".613" = phi  <16 x float> [%".607", %"body.17"], [%".647", %"k.body.1"]
  %".614" = icmp slt i64 %".609", 8
  br i1 %".614", label %"k.body.1", label %"k.done.1"
k.body.1:
  %".616" = mul i64 %".609", 4
  %".617" = add i64 %".616", %"i.17"
  %".618" = getelementptr inbounds float, ptr %".541", i64 %".617"
  %".619" = load <4 x float>, ptr %".618", align 4
  %".620" = shufflevector <4 x float> %".619", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".621" = mul i64 %".609", 4
  %".622" = getelementptr inbounds float, ptr %".278", i64 %".621"
  %".623" = load float, ptr %".622", align 4
  %".624" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".623", i32 0
  %".625" = shufflevector <16 x float> %".624", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".626" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".625", <16 x float> %".620", <16 x float> %".610")
  %".627" = mul i64 %".609", 4
  %".628" = add i64 %".627", 1
  %".629" = getelementptr inbounds float, ptr %".278", i64 %".628"
  %".630" = load float, ptr %".629", align 4
  %".631" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".630", i32 0
  %".632" = shufflevector <16 x float> %".631", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".633" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".632", <16 x float> %".620", <16 x float> %".611")
  %".634" = mul i64 %".609", 4
  %".635" = add i64 %".634", 2
  %".636" = getelementptr inbounds float, ptr %".278", i64 %".635"
  %".637" = load float, ptr %".636", align 4
  %".638" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".637", i32 0
  %".639" = shufflevector <16 x float> %".638", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".640" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".639", <16 x float> %".620", <16 x float> %".612")
  %".641" = mul i64 %".609", 4
  %".642" = add i64 %".641", 3
  %".643" = getelementptr inbounds float, ptr %".278", i64 %".642"
  %".644" = load float, ptr %".643", align 4
  %".645" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".644", i32 0
  %".646" = shufflevector <16 x float> %".645", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".647" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".646", <16 x float> %".620", <16 x float> %".613")
  %".648" = add i64 %".609", 1
  br label %"k.1"
k.done.1:
  %".650" = shufflevector <16 x float> %".610", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".651" = getelementptr inbounds float, ptr %".30", i64 %"i.17"
  store <4 x float> %".650", ptr %".651", align 4
  %".653" = shufflevector <16 x float> %".611", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".654" = add i64 4, %"i.17"
  %".655" = getelementptr inbounds float, ptr %".30", i64 %".654"
  store <4 x float> %".653", ptr %".655", align 4
  %".657" = shufflevector <16 x float> %".612", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".658" = add i64 8, %"i.17"
  %".659" = getelementptr inbounds float, ptr %".30", i64 %".658"
  store <4 x float> %".657", ptr %".659", align 4
  %".661" = shufflevector <16 x float> %".613", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".662" = add i64 12, %"i.17"
  %".663" = getelementptr inbounds float, ptr %".30", i64 %".662"
  store <4 x float> %".661", ptr %".663", align 4
  %".665" = add i64 %"i.17", 4
  br label %"loop.17"
switch.done.2:
  %".737" = add i64 %"i", 1
  br label %"loop"
case.0.2:
  br label %"switch.done.2"
case.1.2:
  %".679" = getelementptr i8, ptr %".3", i64 3712
  %".680" = getelementptr inbounds float, ptr %".28", i64 0
  %".681" = load <4 x float>, ptr %".680", align 4
  %".682" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc6193e5940000000, i32 0
  %".683" = shufflevector <4 x float> %".682", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".684" = fcmp ogt <4 x float> %".681", %".683"
  %".685" = getelementptr inbounds i8, ptr %".679", i64 0
  %".686" = zext <4 x i1> %".684" to <4 x i8>
  store <4 x i8> %".686", ptr %".685", align 1
  br label %"loop.18"
loop.18:
  %"i.18" = phi  i64 [0, %"case.1.2"], [%".720", %"body.18"]
  %".689" = icmp slt i64 %"i.18", 4
  br i1 %".689", label %"body.18", label %"done.18"
body.18:
  %".691" = getelementptr inbounds i8, ptr %".679", i64 %"i.18"
  %".692" = load i8, ptr %".691", align 1
  %".693" = icmp ne i8 %".692", 0
  %".694" = getelementptr inbounds float, ptr %".29", i64 %"i.18"
  %".695" = load float, ptr %".694", align 4
  %".696" = fdiv float 0x3ff0000000000000, %".695"
  %".697" = select  i1 %".693", float %".696", float              0x0
  %".698" = getelementptr inbounds float, ptr %".30", i64 %"i.18"
  %".699" = getelementptr inbounds float, ptr %".30", i64 %"i.18"
  %".700" = load float, ptr %".699", align 4
  %".701" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".700", i32 0
  %".702" = add i64 4, %"i.18"
  %".703" = getelementptr inbounds float, ptr %".30", i64 %".702"
  %".704" = load float, ptr %".703", align 4
  %".705" = insertelement <4 x float> %".701", float %".704", i32 1
  %".706" = add i64 8, %"i.18"
  %".707" = getelementptr inbounds float, ptr %".30", i64 %".706"
  %".708" = load float, ptr %".707", align 4
  %".709" = insertelement <4 x float> %".705", float %".708", i32 2
  %".710" = add i64 12, %"i.18"
  %".711" = getelementptr inbounds float, ptr %".30", i64 %".710"
  %".712" = load float, ptr %".711", align 4
  %".713" = insertelement <4 x float> %".709", float %".712", i32 3
  %".714" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".697", i32 0
  %".715" = shufflevector <4 x float> %".714", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".716" = fmul <4 x float> %".713", %".715"
  %".717" = mul i64 %"i.18", 4
  %".718" = getelementptr inbounds float, ptr %".291", i64 %".717"
  store <4 x float> %".716", ptr %".718", align 4
  %".720" = add i64 %"i.18", 1
  br label %"loop.18"
done.18:
  %".722" = getelementptr inbounds i8, ptr %".679", i64 0
  %".723" = load <4 x i8>, ptr %".722", align 1
  %".724" = icmp ne <4 x i8> %".723", <i8 0, i8 0, i8 0, i8 0>
  %".725" = getelementptr inbounds float, ptr %".28", i64 0
  %".726" = load <4 x float>, ptr %".725", align 4
  %".727" = getelementptr inbounds float, ptr %".29", i64 0
  %".728" = load <4 x float>, ptr %".727", align 4
  %".729" = call <4 x float> @"tilewright.log.v4f32"(<4 x float> %".728")
  %".730" = fadd <4 x float> %".726", %".729"
  %".731" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x46293e5940000000, i32 0
  %".732" = shufflevector <4 x float> %".731", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".733" = select  <4 x i1> %".724", <4 x float> %".730", <4 x float> %".732"
  %".734" = getelementptr inbounds float, ptr %".303", i64 0
  store <4 x float> %".733", ptr %".734", align 4
  br label %"switch.done.2"
}
