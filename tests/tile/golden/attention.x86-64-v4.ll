; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".465" = alloca <4 x float>
  %".517" = alloca <4 x float>
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
  %"i" = phi  i64 [0, %"start"], [%".714", %"switch.done.2"]
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
  store <4 x float> splat (float 0x7ff8000000000000), ptr %".91", align 4
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
  store <4 x float> splat (float 0x7ff8000000000000), ptr %".204", align 4
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
  %".331" = shufflevector <4 x float> %".330", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".332" = fmul <4 x float> %".329", %".331"
  %".333" = mul i64 %"i.11", 4
  %".334" = getelementptr inbounds float, ptr %".27", i64 %".333"
  store <4 x float> %".332", ptr %".334", align 4
  %".336" = add i64 %"i.11", 1
  br label %"loop.11"
done.11:
  %".338" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc630000000000000, i32 0
  %".339" = shufflevector <4 x float> %".338", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".340" = getelementptr inbounds float, ptr %".28", i64 0
  store <4 x float> %".339", ptr %".340", align 4
  %".342" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".343" = shufflevector <4 x float> %".342", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".344" = getelementptr inbounds float, ptr %".29", i64 0
  store <4 x float> %".343", ptr %".344", align 4
  br label %"loop.12"
loop.12:
  %"i.12" = phi  i64 [0, %"done.11"], [%".354", %"body.12"]
  %".347" = icmp slt i64 %"i.12", 4
  br i1 %".347", label %"body.12", label %"done.12"
body.12:
  %".349" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".350" = shufflevector <4 x float> %".349", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".351" = mul i64 %"i.12", 4
  %".352" = getelementptr inbounds float, ptr %".30", i64 %".351"
  store <4 x float> %".350", ptr %".352", align 4
  %".354" = add i64 %"i.12", 1
  br label %"loop.12"
done.12:
  br label %"switch.done"
switch.done.1:
  %".658" = icmp eq i32 %".36", 1
  %".659" = zext i1 %".658" to i32
  %".660" = sext i32 %".659" to i64
  %".661" = icmp slt i64 %".660", 0
  %".662" = select  i1 %".661", i64 0, i64 %".660"
  switch i64 %".662", label %"case.1.2" [i64 0, label %"case.0.2"]
case.0.1:
  br label %"switch.done.1"
case.1.1:
  %".367" = getelementptr i8, ptr %".3", i64 512
  %".368" = getelementptr i8, ptr %".3", i64 640
  br label %"loop.13"
loop.13:
  %"i.13" = phi  i64 [0, %"case.1.1"], [%".461", %"k.done"]
  %".370" = icmp slt i64 %"i.13", 4
  br i1 %".370", label %"body.13", label %"done.13"
body.13:
  br label %"k"
done.13:
  %".463" = getelementptr i8, ptr %".3", i64 1152
  %".464" = getelementptr i8, ptr %".3", i64 1216
  store <4 x float> splat (float 0xfff0000000000000), <4 x float>* %".465"
  br label %"loop.14"
k:
  %".373" = phi  i64 [0, %"body.13"], [%".436", %"k.body"]
  %".374" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".393", %"k.body"]
  %".375" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".399", %"k.body"]
  %".376" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".405", %"k.body"]
  %".377" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".411", %"k.body"]
  %".378" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".417", %"k.body"]
  %".379" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".423", %"k.body"]
  %".380" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".429", %"k.body"]
  %".381" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".435", %"k.body"]
  %".382" = icmp slt i64 %".373", 4
  br i1 %".382", label %"k.body", label %"k.done"
k.body:
  %".384" = mul i64 %".373", 4
  %".385" = add i64 %".384", %"i.13"
  %".386" = getelementptr inbounds float, ptr %".27", i64 %".385"
  %".387" = load <4 x float>, ptr %".386", align 4
  %".388" = shufflevector <4 x float> %".387", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".389" = getelementptr inbounds float, ptr %".165", i64 %".373"
  %".390" = load float, ptr %".389", align 4
  %".391" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".390", i32 0
  %".392" = shufflevector <16 x float> %".391", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".393" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".392", <16 x float> %".388", <16 x float> %".374")
  %".394" = add i64 4, %".373"
  %".395" = getelementptr inbounds float, ptr %".165", i64 %".394"
  %".396" = load float, ptr %".395", align 4
  %".397" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".396", i32 0
  %".398" = shufflevector <16 x float> %".397", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".399" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".398", <16 x float> %".388", <16 x float> %".375")
  %".400" = add i64 8, %".373"
  %".401" = getelementptr inbounds float, ptr %".165", i64 %".400"
  %".402" = load float, ptr %".401", align 4
  %".403" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".402", i32 0
  %".404" = shufflevector <16 x float> %".403", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".405" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".404", <16 x float> %".388", <16 x float> %".376")
  %".406" = add i64 12, %".373"
  %".407" = getelementptr inbounds float, ptr %".165", i64 %".406"
  %".408" = load float, ptr %".407", align 4
  %".409" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".408", i32 0
  %".410" = shufflevector <16 x float> %".409", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".411" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".410", <16 x float> %".388", <16 x float> %".377")
  %".412" = add i64 16, %".373"
  %".413" = getelementptr inbounds float, ptr %".165", i64 %".412"
  %".414" = load float, ptr %".413", align 4
  %".415" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".414", i32 0
  %".416" = shufflevector <16 x float> %".415", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".417" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".416", <16 x float> %".388", <16 x float> %".378")
  %".418" = add i64 20, %".373"
  %".419" = getelementptr inbounds float, ptr %".165", i64 %".418"
  %".420" = load float, ptr %".419", align 4
  %".421" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".420", i32 0
  %".422" = shufflevector <16 x float> %".421", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".423" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".422", <16 x float> %".388", <16 x float> %".379")
  %".424" = add i64 24, %".373"
  %".425" = getelementptr inbounds float, ptr %".165", i64 %".424"
  %".426" = load float, ptr %".425", align 4
  %".427" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".426", i32 0
  %".428" = shufflevector <16 x float> %".427", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".429" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".428", <16 x float> %".388", <16 x float> %".380")
  %".430" = add i64 28, %".373"
  %".431" = getelementptr inbounds float, ptr %".165", i64 %".430"
  %".432" = load float, ptr %".431", align 4
  %".433" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".432", i32 0
  %".434" = shufflevector <16 x float> %".433", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".435" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".434", <16 x float> %".388", <16 x float> %".381")
  %".436" = add i64 %".373", 1
  br label %"k"
k.done:
  %".438" = getelementptr inbounds float, ptr %".367", i64 %"i.13"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".374", ptr %".438", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".440" = add i64 4, %"i.13"
  %".441" = getelementptr inbounds float, ptr %".367", i64 %".440"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".375", ptr %".441", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".443" = add i64 8, %"i.13"
  %".444" = getelementptr inbounds float, ptr %".367", i64 %".443"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".376", ptr %".444", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".446" = add i64 12, %"i.13"
  %".447" = getelementptr inbounds float, ptr %".367", i64 %".446"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".377", ptr %".447", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".449" = add i64 16, %"i.13"
  %".450" = getelementptr inbounds float, ptr %".367", i64 %".449"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".378", ptr %".450", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".452" = add i64 20, %"i.13"
  %".453" = getelementptr inbounds float, ptr %".367", i64 %".452"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".379", ptr %".453", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".455" = add i64 24, %"i.13"
  %".456" = getelementptr inbounds float, ptr %".367", i64 %".455"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".380", ptr %".456", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".458" = add i64 28, %"i.13"
  %".459" = getelementptr inbounds float, ptr %".367", i64 %".458"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".381", ptr %".459", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".461" = add i64 %"i.13", 4
  br label %"loop.13"
loop.14:
  %"i.14" = phi  i64 [0, %"done.13"], [%".497", %"body.14"]
  %".468" = icmp slt i64 %"i.14", 8
  br i1 %".468", label %"body.14", label %"done.14"
body.14:
  %".470" = load <4 x float>, <4 x float>* %".465"
  %".471" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".359", i32 0
  %".472" = shufflevector <4 x i32> %".471", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".473" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 %"i.14", i32 0
  %".474" = shufflevector <4 x i64> %".473", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".475" = add <4 x i64> %".474", <i64 0, i64 0, i64 0, i64 0>
  %".476" = trunc <4 x i64> %".475" to <4 x i32>
  %".477" = add <4 x i32> %".472", %".476"
  %".478" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".357", i32 0
  %".479" = shufflevector <4 x i32> %".478", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".480" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 0, i32 0
  %".481" = shufflevector <4 x i64> %".480", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".482" = add <4 x i64> %".481", <i64 0, i64 1, i64 2, i64 3>
  %".483" = trunc <4 x i64> %".482" to <4 x i32>
  %".484" = add <4 x i32> %".479", %".483"
  %".485" = icmp sle <4 x i32> %".477", %".484"
  %".486" = mul i64 %"i.14", 4
  %".487" = getelementptr inbounds float, ptr %".367", i64 %".486"
  %".488" = load <4 x float>, ptr %".487", align 4
  %".489" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc630000000000000, i32 0
  %".490" = shufflevector <4 x float> %".489", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".491" = select  <4 x i1> %".485", <4 x float> %".488", <4 x float> %".490"
  %".492" = mul i64 %"i.14", 4
  %".493" = getelementptr inbounds float, ptr %".464", i64 %".492"
  store <4 x float> %".491", ptr %".493", align 4
  %".495" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".491", <4 x float> %".470")
  store <4 x float> %".495", <4 x float>* %".465"
  %".497" = add i64 %"i.14", 1
  br label %"loop.14"
done.14:
  %".499" = load <4 x float>, <4 x float>* %".465"
  %".500" = getelementptr inbounds float, ptr %".463", i64 0
  store <4 x float> %".499", ptr %".500", align 4
  %".502" = getelementptr i8, ptr %".3", i64 1344
  %".503" = getelementptr i8, ptr %".3", i64 1408
  %".504" = getelementptr inbounds float, ptr %".28", i64 0
  %".505" = load <4 x float>, ptr %".504", align 4
  %".506" = getelementptr inbounds float, ptr %".463", i64 0
  %".507" = load <4 x float>, ptr %".506", align 4
  %".508" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".505", <4 x float> %".507")
  %".509" = getelementptr inbounds float, ptr %".502", i64 0
  store <4 x float> %".508", ptr %".509", align 4
  %".511" = fsub <4 x float> %".505", %".508"
  %".512" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".511")
  %".513" = getelementptr inbounds float, ptr %".503", i64 0
  store <4 x float> %".512", ptr %".513", align 4
  %".515" = getelementptr i8, ptr %".3", i64 1472
  %".516" = getelementptr i8, ptr %".3", i64 1536
  store <4 x float> splat (float              0x0), <4 x float>* %".517"
  br label %"loop.15"
loop.15:
  %"i.15" = phi  i64 [0, %"done.14"], [%".535", %"body.15"]
  %".520" = icmp slt i64 %"i.15", 8
  br i1 %".520", label %"body.15", label %"done.15"
body.15:
  %".522" = load <4 x float>, <4 x float>* %".517"
  %".523" = mul i64 %"i.15", 4
  %".524" = getelementptr inbounds float, ptr %".464", i64 %".523"
  %".525" = load <4 x float>, ptr %".524", align 4
  %".526" = getelementptr inbounds float, ptr %".502", i64 0
  %".527" = load <4 x float>, ptr %".526", align 4
  %".528" = fsub <4 x float> %".525", %".527"
  %".529" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".528")
  %".530" = mul i64 %"i.15", 4
  %".531" = getelementptr inbounds float, ptr %".516", i64 %".530"
  store <4 x float> %".529", ptr %".531", align 4
  %".533" = fadd <4 x float> %".522", %".529"
  store <4 x float> %".533", <4 x float>* %".517"
  %".535" = add i64 %"i.15", 1
  br label %"loop.15"
done.15:
  %".537" = load <4 x float>, <4 x float>* %".517"
  %".538" = getelementptr inbounds float, ptr %".515", i64 0
  store <4 x float> %".537", ptr %".538", align 4
  %".540" = getelementptr inbounds float, ptr %".29", i64 0
  %".541" = load <4 x float>, ptr %".540", align 4
  %".542" = getelementptr inbounds float, ptr %".503", i64 0
  %".543" = load <4 x float>, ptr %".542", align 4
  %".544" = fmul <4 x float> %".541", %".543"
  %".545" = getelementptr inbounds float, ptr %".515", i64 0
  %".546" = load <4 x float>, ptr %".545", align 4
  %".547" = fadd <4 x float> %".544", %".546"
  %".548" = getelementptr inbounds float, ptr %".29", i64 0
  store <4 x float> %".547", ptr %".548", align 4
  br label %"loop.16"
loop.16:
  %"i.16" = phi  i64 [0, %"done.15"], [%".562", %"body.16"]
  %".551" = icmp slt i64 %"i.16", 4
  br i1 %".551", label %"body.16", label %"done.16"
body.16:
  %".553" = mul i64 %"i.16", 4
  %".554" = getelementptr inbounds float, ptr %".30", i64 %".553"
  %".555" = load <4 x float>, ptr %".554", align 4
  %".556" = getelementptr inbounds float, ptr %".503", i64 0
  %".557" = load <4 x float>, ptr %".556", align 4
  %".558" = fmul <4 x float> %".555", %".557"
  %".559" = mul i64 %"i.16", 4
  %".560" = getelementptr inbounds float, ptr %".30", i64 %".559"
  store <4 x float> %".558", ptr %".560", align 4
  %".562" = add i64 %"i.16", 1
  br label %"loop.16"
done.16:
  %".564" = getelementptr i8, ptr %".3", i64 1664
  br label %"loop.17"
loop.17:
  %"i.17" = phi  i64 [0, %"done.16"], [%".651", %"k.done.1"]
  %".566" = icmp slt i64 %"i.17", 4
  br i1 %".566", label %"body.17", label %"done.17"
body.17:
  %".568" = getelementptr inbounds float, ptr %".30", i64 %"i.17"
  call void @"llvm.prefetch.p0"(ptr %".568", i32 0, i32 3, i32 1)
  %".570" = add i64 4, %"i.17"
  %".571" = getelementptr inbounds float, ptr %".30", i64 %".570"
  call void @"llvm.prefetch.p0"(ptr %".571", i32 0, i32 3, i32 1)
  %".573" = add i64 8, %"i.17"
  %".574" = getelementptr inbounds float, ptr %".30", i64 %".573"
  call void @"llvm.prefetch.p0"(ptr %".574", i32 0, i32 3, i32 1)
  %".576" = add i64 12, %"i.17"
  %".577" = getelementptr inbounds float, ptr %".30", i64 %".576"
  call void @"llvm.prefetch.p0"(ptr %".577", i32 0, i32 3, i32 1)
  br label %"k.1"
done.17:
  %".653" = getelementptr inbounds float, ptr %".502", i64 0
  %".654" = load <4 x float>, ptr %".653", align 4
  %".655" = getelementptr inbounds float, ptr %".28", i64 0
  store <4 x float> %".654", ptr %".655", align 4
  br label %"switch.done.1"
k.1:
  %".580" = phi  i64 [0, %"body.17"], [%".619", %"k.body.1"]
  %".581" = phi  <16 x float> [splat (float              0x0), %"body.17"], [%".597", %"k.body.1"]
  %".582" = phi  <16 x float> [splat (float              0x0), %"body.17"], [%".604", %"k.body.1"]
  %".583" = phi  <16 x float> [splat (float              0x0), %"body.17"], [%".611", %"k.body.1"]
  %".584" = phi  <16 x float> [splat (float              0x0), %"body.17"], [%".618", %"k.body.1"]
  %".585" = icmp slt i64 %".580", 8
  br i1 %".585", label %"k.body.1", label %"k.done.1"
k.body.1:
  %".587" = mul i64 %".580", 4
  %".588" = add i64 %".587", %"i.17"
  %".589" = getelementptr inbounds float, ptr %".516", i64 %".588"
  %".590" = load <4 x float>, ptr %".589", align 4
  %".591" = shufflevector <4 x float> %".590", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".592" = mul i64 %".580", 4
  %".593" = getelementptr inbounds float, ptr %".278", i64 %".592"
  %".594" = load float, ptr %".593", align 4
  %".595" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".594", i32 0
  %".596" = shufflevector <16 x float> %".595", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".597" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".596", <16 x float> %".591", <16 x float> %".581")
  %".598" = mul i64 %".580", 4
  %".599" = add i64 %".598", 1
  %".600" = getelementptr inbounds float, ptr %".278", i64 %".599"
  %".601" = load float, ptr %".600", align 4
  %".602" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".601", i32 0
  %".603" = shufflevector <16 x float> %".602", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".604" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".603", <16 x float> %".591", <16 x float> %".582")
  %".605" = mul i64 %".580", 4
  %".606" = add i64 %".605", 2
  %".607" = getelementptr inbounds float, ptr %".278", i64 %".606"
  %".608" = load float, ptr %".607", align 4
  %".609" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".608", i32 0
  %".610" = shufflevector <16 x float> %".609", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".611" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".610", <16 x float> %".591", <16 x float> %".583")
  %".612" = mul i64 %".580", 4
  %".613" = add i64 %".612", 3
  %".614" = getelementptr inbounds float, ptr %".278", i64 %".613"
  %".615" = load float, ptr %".614", align 4
  %".616" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".615", i32 0
  %".617" = shufflevector <16 x float> %".616", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".618" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".617", <16 x float> %".591", <16 x float> %".584")
  %".619" = add i64 %".580", 1
  br label %"k.1"
k.done.1:
  %".621" = getelementptr inbounds float, ptr %".30", i64 %"i.17"
  %".622" = load <4 x float>, ptr %".621", align 4
  %".623" = shufflevector <4 x float> %".622", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".624" = fadd <16 x float> %".623", %".581"
  %".625" = getelementptr inbounds float, ptr %".30", i64 %"i.17"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".624", ptr %".625", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".627" = add i64 4, %"i.17"
  %".628" = getelementptr inbounds float, ptr %".30", i64 %".627"
  %".629" = load <4 x float>, ptr %".628", align 4
  %".630" = shufflevector <4 x float> %".629", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".631" = fadd <16 x float> %".630", %".582"
  %".632" = add i64 4, %"i.17"
  %".633" = getelementptr inbounds float, ptr %".30", i64 %".632"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".631", ptr %".633", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".635" = add i64 8, %"i.17"
  %".636" = getelementptr inbounds float, ptr %".30", i64 %".635"
  %".637" = load <4 x float>, ptr %".636", align 4
  %".638" = shufflevector <4 x float> %".637", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".639" = fadd <16 x float> %".638", %".583"
  %".640" = add i64 8, %"i.17"
  %".641" = getelementptr inbounds float, ptr %".30", i64 %".640"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".639", ptr %".641", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".643" = add i64 12, %"i.17"
  %".644" = getelementptr inbounds float, ptr %".30", i64 %".643"
  %".645" = load <4 x float>, ptr %".644", align 4
  %".646" = shufflevector <4 x float> %".645", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".647" = fadd <16 x float> %".646", %".584"
  %".648" = add i64 12, %"i.17"
  %".649" = getelementptr inbounds float, ptr %".30", i64 %".648"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".647", ptr %".649", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".651" = add i64 %"i.17", 4
  br label %"loop.17"
switch.done.2:
  %".714" = add i64 %"i", 1
  br label %"loop"
case.0.2:
  br label %"switch.done.2"
case.1.2:
  br label %"loop.18"
loop.18:
  %"i.18" = phi  i64 [0, %"case.1.2"], [%".697", %"body.18"]
  %".666" = icmp slt i64 %"i.18", 4
  br i1 %".666", label %"body.18", label %"done.18"
body.18:
  %".668" = getelementptr inbounds float, ptr %".28", i64 %"i.18"
  %".669" = load float, ptr %".668", align 4
  %".670" = fcmp ogt float %".669", 0xc620000000000000
  %".671" = getelementptr inbounds float, ptr %".29", i64 %"i.18"
  %".672" = load float, ptr %".671", align 4
  %".673" = fdiv float 0x3ff0000000000000, %".672"
  %".674" = select  i1 %".670", float %".673", float              0x0
  %".675" = getelementptr inbounds float, ptr %".30", i64 %"i.18"
  %".676" = getelementptr inbounds float, ptr %".30", i64 %"i.18"
  %".677" = load float, ptr %".676", align 4
  %".678" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".677", i32 0
  %".679" = add i64 4, %"i.18"
  %".680" = getelementptr inbounds float, ptr %".30", i64 %".679"
  %".681" = load float, ptr %".680", align 4
  %".682" = insertelement <4 x float> %".678", float %".681", i32 1
  %".683" = add i64 8, %"i.18"
  %".684" = getelementptr inbounds float, ptr %".30", i64 %".683"
  %".685" = load float, ptr %".684", align 4
  %".686" = insertelement <4 x float> %".682", float %".685", i32 2
  %".687" = add i64 12, %"i.18"
  %".688" = getelementptr inbounds float, ptr %".30", i64 %".687"
  %".689" = load float, ptr %".688", align 4
  %".690" = insertelement <4 x float> %".686", float %".689", i32 3
  %".691" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".674", i32 0
  %".692" = shufflevector <4 x float> %".691", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".693" = fmul <4 x float> %".690", %".692"
  %".694" = mul i64 %"i.18", 4
  %".695" = getelementptr inbounds float, ptr %".291", i64 %".694"
  store <4 x float> %".693", ptr %".695", align 4
  %".697" = add i64 %"i.18", 1
  br label %"loop.18"
done.18:
  %".699" = getelementptr inbounds float, ptr %".28", i64 0
  %".700" = load <4 x float>, ptr %".699", align 4
  %".701" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc620000000000000, i32 0
  %".702" = shufflevector <4 x float> %".701", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".703" = fcmp ogt <4 x float> %".700", %".702"
  %".704" = getelementptr inbounds float, ptr %".29", i64 0
  %".705" = load <4 x float>, ptr %".704", align 4
  %".706" = call <4 x float> @"tilewright.log.v4f32"(<4 x float> %".705")
  %".707" = fadd <4 x float> %".700", %".706"
  %".708" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x4630000000000000, i32 0
  %".709" = shufflevector <4 x float> %".708", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".710" = select  <4 x i1> %".703", <4 x float> %".707", <4 x float> %".709"
  %".711" = getelementptr inbounds float, ptr %".303", i64 0
  store <4 x float> %".710", ptr %".711", align 4
  br label %"switch.done.2"
}
