; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".473" = alloca <4 x float>
  %".525" = alloca <4 x float>
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
  %"i" = phi  i64 [0, %"start"], [%".726", %"switch.done.2"]
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
  %".670" = icmp eq i32 %".36", 1
  %".671" = zext i1 %".670" to i32
  %".672" = sext i32 %".671" to i64
  %".673" = icmp slt i64 %".672", 0
  %".674" = select  i1 %".673", i64 0, i64 %".672"
  switch i64 %".674", label %"case.1.2" [i64 0, label %"case.0.2"]
case.0.1:
  br label %"switch.done.1"
case.1.1:
  %".367" = getelementptr i8, ptr %".3", i64 512
  %".368" = getelementptr i8, ptr %".3", i64 640
  br label %"loop.13"
loop.13:
  %"i.13" = phi  i64 [0, %"case.1.1"], [%".469", %"k.done"]
  %".370" = icmp slt i64 %"i.13", 4
  br i1 %".370", label %"body.13", label %"done.13"
body.13:
  br label %"k"
done.13:
  %".471" = getelementptr i8, ptr %".3", i64 1152
  %".472" = getelementptr i8, ptr %".3", i64 1216
  store <4 x float> splat (float 0xfff0000000000000), <4 x float>* %".473"
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
  %".438" = shufflevector <16 x float> %".374", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".439" = getelementptr inbounds float, ptr %".367", i64 %"i.13"
  store <4 x float> %".438", ptr %".439", align 4
  %".441" = shufflevector <16 x float> %".375", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".442" = add i64 4, %"i.13"
  %".443" = getelementptr inbounds float, ptr %".367", i64 %".442"
  store <4 x float> %".441", ptr %".443", align 4
  %".445" = shufflevector <16 x float> %".376", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".446" = add i64 8, %"i.13"
  %".447" = getelementptr inbounds float, ptr %".367", i64 %".446"
  store <4 x float> %".445", ptr %".447", align 4
  %".449" = shufflevector <16 x float> %".377", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".450" = add i64 12, %"i.13"
  %".451" = getelementptr inbounds float, ptr %".367", i64 %".450"
  store <4 x float> %".449", ptr %".451", align 4
  %".453" = shufflevector <16 x float> %".378", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".454" = add i64 16, %"i.13"
  %".455" = getelementptr inbounds float, ptr %".367", i64 %".454"
  store <4 x float> %".453", ptr %".455", align 4
  %".457" = shufflevector <16 x float> %".379", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".458" = add i64 20, %"i.13"
  %".459" = getelementptr inbounds float, ptr %".367", i64 %".458"
  store <4 x float> %".457", ptr %".459", align 4
  %".461" = shufflevector <16 x float> %".380", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".462" = add i64 24, %"i.13"
  %".463" = getelementptr inbounds float, ptr %".367", i64 %".462"
  store <4 x float> %".461", ptr %".463", align 4
  %".465" = shufflevector <16 x float> %".381", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".466" = add i64 28, %"i.13"
  %".467" = getelementptr inbounds float, ptr %".367", i64 %".466"
  store <4 x float> %".465", ptr %".467", align 4
  %".469" = add i64 %"i.13", 4
  br label %"loop.13"
loop.14:
  %"i.14" = phi  i64 [0, %"done.13"], [%".505", %"body.14"]
  %".476" = icmp slt i64 %"i.14", 8
  br i1 %".476", label %"body.14", label %"done.14"
body.14:
  %".478" = load <4 x float>, <4 x float>* %".473"
  %".479" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".359", i32 0
  %".480" = shufflevector <4 x i32> %".479", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".481" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 %"i.14", i32 0
  %".482" = shufflevector <4 x i64> %".481", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".483" = add <4 x i64> %".482", <i64 0, i64 0, i64 0, i64 0>
  %".484" = trunc <4 x i64> %".483" to <4 x i32>
  %".485" = add <4 x i32> %".480", %".484"
  %".486" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".357", i32 0
  %".487" = shufflevector <4 x i32> %".486", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".488" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 0, i32 0
  %".489" = shufflevector <4 x i64> %".488", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".490" = add <4 x i64> %".489", <i64 0, i64 1, i64 2, i64 3>
  %".491" = trunc <4 x i64> %".490" to <4 x i32>
  %".492" = add <4 x i32> %".487", %".491"
  %".493" = icmp sle <4 x i32> %".485", %".492"
  %".494" = mul i64 %"i.14", 4
  %".495" = getelementptr inbounds float, ptr %".367", i64 %".494"
  %".496" = load <4 x float>, ptr %".495", align 4
  %".497" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc630000000000000, i32 0
  %".498" = shufflevector <4 x float> %".497", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".499" = select  <4 x i1> %".493", <4 x float> %".496", <4 x float> %".498"
  %".500" = mul i64 %"i.14", 4
  %".501" = getelementptr inbounds float, ptr %".472", i64 %".500"
  store <4 x float> %".499", ptr %".501", align 4
  %".503" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".499", <4 x float> %".478")
  store <4 x float> %".503", <4 x float>* %".473"
  %".505" = add i64 %"i.14", 1
  br label %"loop.14"
done.14:
  %".507" = load <4 x float>, <4 x float>* %".473"
  %".508" = getelementptr inbounds float, ptr %".471", i64 0
  store <4 x float> %".507", ptr %".508", align 4
  %".510" = getelementptr i8, ptr %".3", i64 1344
  %".511" = getelementptr i8, ptr %".3", i64 1408
  %".512" = getelementptr inbounds float, ptr %".28", i64 0
  %".513" = load <4 x float>, ptr %".512", align 4
  %".514" = getelementptr inbounds float, ptr %".471", i64 0
  %".515" = load <4 x float>, ptr %".514", align 4
  %".516" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".513", <4 x float> %".515")
  %".517" = getelementptr inbounds float, ptr %".510", i64 0
  store <4 x float> %".516", ptr %".517", align 4
  %".519" = fsub <4 x float> %".513", %".516"
  %".520" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".519")
  %".521" = getelementptr inbounds float, ptr %".511", i64 0
  store <4 x float> %".520", ptr %".521", align 4
  %".523" = getelementptr i8, ptr %".3", i64 1472
  %".524" = getelementptr i8, ptr %".3", i64 1536
  store <4 x float> splat (float              0x0), <4 x float>* %".525"
  br label %"loop.15"
loop.15:
  %"i.15" = phi  i64 [0, %"done.14"], [%".543", %"body.15"]
  %".528" = icmp slt i64 %"i.15", 8
  br i1 %".528", label %"body.15", label %"done.15"
body.15:
  %".530" = load <4 x float>, <4 x float>* %".525"
  %".531" = mul i64 %"i.15", 4
  %".532" = getelementptr inbounds float, ptr %".472", i64 %".531"
  %".533" = load <4 x float>, ptr %".532", align 4
  %".534" = getelementptr inbounds float, ptr %".510", i64 0
  %".535" = load <4 x float>, ptr %".534", align 4
  %".536" = fsub <4 x float> %".533", %".535"
  %".537" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".536")
  %".538" = mul i64 %"i.15", 4
  %".539" = getelementptr inbounds float, ptr %".524", i64 %".538"
  store <4 x float> %".537", ptr %".539", align 4
  %".541" = fadd <4 x float> %".530", %".537"
  store <4 x float> %".541", <4 x float>* %".525"
  %".543" = add i64 %"i.15", 1
  br label %"loop.15"
done.15:
  %".545" = load <4 x float>, <4 x float>* %".525"
  %".546" = getelementptr inbounds float, ptr %".523", i64 0
  store <4 x float> %".545", ptr %".546", align 4
  %".548" = getelementptr inbounds float, ptr %".29", i64 0
  %".549" = load <4 x float>, ptr %".548", align 4
  %".550" = getelementptr inbounds float, ptr %".511", i64 0
  %".551" = load <4 x float>, ptr %".550", align 4
  %".552" = fmul <4 x float> %".549", %".551"
  %".553" = getelementptr inbounds float, ptr %".523", i64 0
  %".554" = load <4 x float>, ptr %".553", align 4
  %".555" = fadd <4 x float> %".552", %".554"
  %".556" = getelementptr inbounds float, ptr %".29", i64 0
  store <4 x float> %".555", ptr %".556", align 4
  br label %"loop.16"
loop.16:
  %"i.16" = phi  i64 [0, %"done.15"], [%".570", %"body.16"]
  %".559" = icmp slt i64 %"i.16", 4
  br i1 %".559", label %"body.16", label %"done.16"
body.16:
  %".561" = mul i64 %"i.16", 4
  %".562" = getelementptr inbounds float, ptr %".30", i64 %".561"
  %".563" = load <4 x float>, ptr %".562", align 4
  %".564" = getelementptr inbounds float, ptr %".511", i64 0
  %".565" = load <4 x float>, ptr %".564", align 4
  %".566" = fmul <4 x float> %".563", %".565"
  %".567" = mul i64 %"i.16", 4
  %".568" = getelementptr inbounds float, ptr %".30", i64 %".567"
  store <4 x float> %".566", ptr %".568", align 4
  %".570" = add i64 %"i.16", 1
  br label %"loop.16"
done.16:
  %".572" = getelementptr i8, ptr %".3", i64 1664
  br label %"loop.17"
loop.17:
  %"i.17" = phi  i64 [0, %"done.16"], [%".663", %"k.done.1"]
  %".574" = icmp slt i64 %"i.17", 4
  br i1 %".574", label %"body.17", label %"done.17"
body.17:
  %".576" = getelementptr inbounds float, ptr %".30", i64 %"i.17"
  call void @"llvm.prefetch.p0"(ptr %".576", i32 0, i32 3, i32 1)
  %".578" = add i64 4, %"i.17"
  %".579" = getelementptr inbounds float, ptr %".30", i64 %".578"
  call void @"llvm.prefetch.p0"(ptr %".579", i32 0, i32 3, i32 1)
  %".581" = add i64 8, %"i.17"
  %".582" = getelementptr inbounds float, ptr %".30", i64 %".581"
  call void @"llvm.prefetch.p0"(ptr %".582", i32 0, i32 3, i32 1)
  %".584" = add i64 12, %"i.17"
  %".585" = getelementptr inbounds float, ptr %".30", i64 %".584"
  call void @"llvm.prefetch.p0"(ptr %".585", i32 0, i32 3, i32 1)
  br label %"k.1"
done.17:
  %".665" = getelementptr inbounds float, ptr %".510", i64 0
  %".666" = load <4 x float>, ptr %".665", align 4
  %".667" = getelementptr inbounds float, ptr %".28", i64 0
  store <4 x float> %".666", ptr %".667", align 4
  br label %"switch.done.1"
k.1:
  %".588" = phi  i64 [0, %"body.17"], [%".627", %"k.body.1"]
  %".589" = phi  <16 x float> [splat (float              0x0), %"body.17"], [%".605", %"k.body.1"]
  %".590" = phi  <16 x float> [splat (float              0x0), %"body.17"], [%".612", %"k.body.1"]
  %".591" = phi  <16 x float> [splat (float              0x0), %"body.17"], [%".619", %"k.body.1"]
  %".592" = phi  <16 x float> [splat (float              0x0), %"body.17"], [%".626", %"k.body.1"]
  %".593" = icmp slt i64 %".588", 8
  br i1 %".593", label %"k.body.1", label %"k.done.1"
k.body.1:
  %".595" = mul i64 %".588", 4
  %".596" = add i64 %".595", %"i.17"
  %".597" = getelementptr inbounds float, ptr %".524", i64 %".596"
  %".598" = load <4 x float>, ptr %".597", align 4
  %".599" = shufflevector <4 x float> %".598", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".600" = mul i64 %".588", 4
  %".601" = getelementptr inbounds float, ptr %".278", i64 %".600"
  %".602" = load float, ptr %".601", align 4
  %".603" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".602", i32 0
  %".604" = shufflevector <16 x float> %".603", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".605" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".604", <16 x float> %".599", <16 x float> %".589")
  %".606" = mul i64 %".588", 4
  %".607" = add i64 %".606", 1
  %".608" = getelementptr inbounds float, ptr %".278", i64 %".607"
  %".609" = load float, ptr %".608", align 4
  %".610" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".609", i32 0
  %".611" = shufflevector <16 x float> %".610", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".612" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".611", <16 x float> %".599", <16 x float> %".590")
  %".613" = mul i64 %".588", 4
  %".614" = add i64 %".613", 2
  %".615" = getelementptr inbounds float, ptr %".278", i64 %".614"
  %".616" = load float, ptr %".615", align 4
  %".617" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".616", i32 0
  %".618" = shufflevector <16 x float> %".617", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".619" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".618", <16 x float> %".599", <16 x float> %".591")
  %".620" = mul i64 %".588", 4
  %".621" = add i64 %".620", 3
  %".622" = getelementptr inbounds float, ptr %".278", i64 %".621"
  %".623" = load float, ptr %".622", align 4
  %".624" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".623", i32 0
  %".625" = shufflevector <16 x float> %".624", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".626" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".625", <16 x float> %".599", <16 x float> %".592")
  %".627" = add i64 %".588", 1
  br label %"k.1"
k.done.1:
  %".629" = getelementptr inbounds float, ptr %".30", i64 %"i.17"
  %".630" = load <4 x float>, ptr %".629", align 4
  %".631" = shufflevector <4 x float> %".630", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".632" = fadd <16 x float> %".631", %".589"
  %".633" = shufflevector <16 x float> %".632", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".634" = getelementptr inbounds float, ptr %".30", i64 %"i.17"
  store <4 x float> %".633", ptr %".634", align 4
  %".636" = add i64 4, %"i.17"
  %".637" = getelementptr inbounds float, ptr %".30", i64 %".636"
  %".638" = load <4 x float>, ptr %".637", align 4
  %".639" = shufflevector <4 x float> %".638", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".640" = fadd <16 x float> %".639", %".590"
  %".641" = shufflevector <16 x float> %".640", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".642" = add i64 4, %"i.17"
  %".643" = getelementptr inbounds float, ptr %".30", i64 %".642"
  store <4 x float> %".641", ptr %".643", align 4
  %".645" = add i64 8, %"i.17"
  %".646" = getelementptr inbounds float, ptr %".30", i64 %".645"
  %".647" = load <4 x float>, ptr %".646", align 4
  %".648" = shufflevector <4 x float> %".647", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".649" = fadd <16 x float> %".648", %".591"
  %".650" = shufflevector <16 x float> %".649", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".651" = add i64 8, %"i.17"
  %".652" = getelementptr inbounds float, ptr %".30", i64 %".651"
  store <4 x float> %".650", ptr %".652", align 4
  %".654" = add i64 12, %"i.17"
  %".655" = getelementptr inbounds float, ptr %".30", i64 %".654"
  %".656" = load <4 x float>, ptr %".655", align 4
  %".657" = shufflevector <4 x float> %".656", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".658" = fadd <16 x float> %".657", %".592"
  %".659" = shufflevector <16 x float> %".658", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".660" = add i64 12, %"i.17"
  %".661" = getelementptr inbounds float, ptr %".30", i64 %".660"
  store <4 x float> %".659", ptr %".661", align 4
  %".663" = add i64 %"i.17", 4
  br label %"loop.17"
switch.done.2:
  %".726" = add i64 %"i", 1
  br label %"loop"
case.0.2:
  br label %"switch.done.2"
case.1.2:
  br label %"loop.18"
loop.18:
  %"i.18" = phi  i64 [0, %"case.1.2"], [%".709", %"body.18"]
  %".678" = icmp slt i64 %"i.18", 4
  br i1 %".678", label %"body.18", label %"done.18"
body.18:
  %".680" = getelementptr inbounds float, ptr %".28", i64 %"i.18"
  %".681" = load float, ptr %".680", align 4
  %".682" = fcmp ogt float %".681", 0xc620000000000000
  %".683" = getelementptr inbounds float, ptr %".29", i64 %"i.18"
  %".684" = load float, ptr %".683", align 4
  %".685" = fdiv float 0x3ff0000000000000, %".684"
  %".686" = select  i1 %".682", float %".685", float              0x0
  %".687" = getelementptr inbounds float, ptr %".30", i64 %"i.18"
  %".688" = getelementptr inbounds float, ptr %".30", i64 %"i.18"
  %".689" = load float, ptr %".688", align 4
  %".690" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".689", i32 0
  %".691" = add i64 4, %"i.18"
  %".692" = getelementptr inbounds float, ptr %".30", i64 %".691"
  %".693" = load float, ptr %".692", align 4
  %".694" = insertelement <4 x float> %".690", float %".693", i32 1
  %".695" = add i64 8, %"i.18"
  %".696" = getelementptr inbounds float, ptr %".30", i64 %".695"
  %".697" = load float, ptr %".696", align 4
  %".698" = insertelement <4 x float> %".694", float %".697", i32 2
  %".699" = add i64 12, %"i.18"
  %".700" = getelementptr inbounds float, ptr %".30", i64 %".699"
  %".701" = load float, ptr %".700", align 4
  %".702" = insertelement <4 x float> %".698", float %".701", i32 3
  %".703" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".686", i32 0
  %".704" = shufflevector <4 x float> %".703", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".705" = fmul <4 x float> %".702", %".704"
  %".706" = mul i64 %"i.18", 4
  %".707" = getelementptr inbounds float, ptr %".291", i64 %".706"
  store <4 x float> %".705", ptr %".707", align 4
  %".709" = add i64 %"i.18", 1
  br label %"loop.18"
done.18:
  %".711" = getelementptr inbounds float, ptr %".28", i64 0
  %".712" = load <4 x float>, ptr %".711", align 4
  %".713" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc620000000000000, i32 0
  %".714" = shufflevector <4 x float> %".713", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".715" = fcmp ogt <4 x float> %".712", %".714"
  %".716" = getelementptr inbounds float, ptr %".29", i64 0
  %".717" = load <4 x float>, ptr %".716", align 4
  %".718" = call <4 x float> @"tilewright.log.v4f32"(<4 x float> %".717")
  %".719" = fadd <4 x float> %".712", %".718"
  %".720" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x4630000000000000, i32 0
  %".721" = shufflevector <4 x float> %".720", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".722" = select  <4 x i1> %".715", <4 x float> %".719", <4 x float> %".721"
  %".723" = getelementptr inbounds float, ptr %".303", i64 0
  store <4 x float> %".722", ptr %".723", align 4
  br label %"switch.done.2"
}
