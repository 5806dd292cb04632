; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".649" = alloca <4 x float>
  %".711" = alloca <4 x float>
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
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".34", %"body"]
  %".29" = icmp slt i64 %"i", 4
  br i1 %".29", label %"body", label %"done"
body:
  %".31" = mul i64 %"i", 4
  %".32" = getelementptr inbounds float, ptr %".27", i64 %".31"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".32", align 4
  %".34" = add i64 %"i", 1
  br label %"loop"
done:
  %".36" = getelementptr i8, ptr %".3", i64 64
  %".37" = getelementptr inbounds float, ptr %".36", i64 0
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".37", align 4
  %".39" = getelementptr i8, ptr %".3", i64 128
  %".40" = getelementptr inbounds float, ptr %".39", i64 0
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".40", align 4
  %".42" = getelementptr i8, ptr %".3", i64 192
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [0, %"done"], [%".49", %"body.1"]
  %".44" = icmp slt i64 %"i.1", 4
  br i1 %".44", label %"body.1", label %"done.1"
body.1:
  %".46" = mul i64 %"i.1", 4
  %".47" = getelementptr inbounds float, ptr %".42", i64 %".46"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".47", align 4
  %".49" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  br label %"loop.2"
loop.2:
  %"i.2" = phi  i64 [0, %"done.1"], [%".1002", %"end.6"]
  %".52" = icmp slt i64 %"i.2", %".12"
  br i1 %".52", label %"body.2", label %"done.2"
body.2:
  %".54" = trunc i64 %".15" to i32
  %".55" = trunc i64 %".13" to i32
  %".56" = trunc i64 %"i.2" to i32
  %".57" = trunc i64 %".8" to i32
  %".58" = trunc i64 %".10" to i32
  %".59" = trunc i64 %".12" to i32
  %".60" = trunc i64 %".15" to i32
  %".61" = trunc i64 %".13" to i32
  %".62" = trunc i64 %"i.2" to i32
  %".63" = sext i32 %".60" to i64
  %".64" = sext i32 %".61" to i64
  %".65" = sext i32 0 to i64
  %".66" = mul i64 %".64", 4
  %".67" = mul i64 %".65", 4
  %".68" = icmp ule i64 %".63", 0
  %".69" = icmp ule i64 %".66", 4
  %".70" = icmp ule i64 %".67", 0
  %".71" = and i1 %".68", %".69"
  %".72" = and i1 %".71", %".70"
  %".73" = mul i64 %".63", 32
  %".74" = mul i64 %".66", 4
  %".75" = add i64 %".73", %".74"
  %".76" = add i64 %".75", %".67"
  %".77" = getelementptr float, ptr %".18", i64 %".76"
  %".78" = getelementptr i8, ptr %".3", i64 256
  %".79" = xor i1 %".72", -1
  br i1 %".79", label %"then", label %"end"
done.2:
  ret void
then:
  br label %"loop.3"
end:
  %".136" = select  i1 %".72", ptr %".77", ptr %".78"
  %".137" = trunc i64 %".15" to i32
  %".138" = trunc i64 %".13" to i32
  %".139" = trunc i64 %"i.2" to i32
  %".140" = icmp sgt i32 %".137", 0
  %".141" = icmp slt i32 %".137", 0
  %".142" = select  i1 %".141", i32 4294967295, i32 0
  %".143" = select  i1 %".140", i32 1, i32 %".142"
  %".144" = icmp ne i32 %".143", 1
  %".145" = icmp eq i32 1, 0
  %".146" = icmp eq i32 %".137", 2147483648
  %".147" = icmp eq i32 1, 4294967295
  %".148" = and i1 %".146", %".147"
  %".149" = or i1 %".145", %".148"
  %".150" = select  i1 %".149", i32 1, i32 1
  %".151" = srem i32 %".137", %".150"
  %".152" = select  i1 %".145", i32 %".137", i32 %".151"
  %".153" = icmp ne i32 %".152", 0
  %".154" = and i1 %".144", %".153"
  %".155" = sub i32 %".137", 1
  %".156" = select  i1 %".154", i32 %".155", i32 %".137"
  %".157" = sext i32 %".156" to i64
  %".158" = sext i32 %".139" to i64
  %".159" = sext i32 0 to i64
  %".160" = mul i64 %".158", 8
  %".161" = mul i64 %".159", 4
  %".162" = icmp ule i64 %".157", 0
  %".163" = icmp ule i64 %".160", 8
  %".164" = icmp ule i64 %".161", 0
  %".165" = and i1 %".162", %".163"
  %".166" = and i1 %".165", %".164"
  %".167" = mul i64 %".157", 64
  %".168" = mul i64 %".160", 4
  %".169" = add i64 %".167", %".168"
  %".170" = add i64 %".169", %".161"
  %".171" = getelementptr float, ptr %".20", i64 %".170"
  %".172" = getelementptr i8, ptr %".3", i64 320
  %".173" = xor i1 %".166", -1
  br i1 %".173", label %"then.1", label %"end.1"
loop.3:
  %"i.3" = phi  i64 [0, %"then"], [%".87", %"body.3"]
  %".82" = icmp slt i64 %"i.3", 4
  br i1 %".82", label %"body.3", label %"done.3"
body.3:
  %".84" = mul i64 %"i.3", 4
  %".85" = getelementptr inbounds float, ptr %".78", i64 %".84"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".85", align 4
  %".87" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".89" = icmp slt i64 %".63", 0
  %".90" = sub i64 0, %".63"
  %".91" = select  i1 %".89", i64 %".90", i64 0
  %".92" = sub i64 1, %".63"
  %".93" = icmp slt i64 %".92", 1
  %".94" = select  i1 %".93", i64 %".92", i64 1
  %".95" = icmp slt i64 %".66", 0
  %".96" = sub i64 0, %".66"
  %".97" = select  i1 %".95", i64 %".96", i64 0
  %".98" = sub i64 8, %".66"
  %".99" = icmp slt i64 %".98", 4
  %".100" = select  i1 %".99", i64 %".98", i64 4
  %".101" = icmp slt i64 %".67", 0
  %".102" = sub i64 0, %".67"
  %".103" = select  i1 %".101", i64 %".102", i64 0
  %".104" = sub i64 4, %".67"
  %".105" = icmp slt i64 %".104", 4
  %".106" = select  i1 %".105", i64 %".104", i64 4
  br label %"loop.4"
loop.4:
  %"i.4" = phi  i64 [%".91", %"done.3"], [%".133", %"done.5"]
  %".108" = icmp slt i64 %"i.4", %".94"
  br i1 %".108", label %"body.4", label %"done.4"
body.4:
  br label %"loop.5"
done.4:
  br label %"end"
loop.5:
  %"i.5" = phi  i64 [%".97", %"body.4"], [%".131", %"done.6"]
  %".111" = icmp slt i64 %"i.5", %".100"
  br i1 %".111", label %"body.5", label %"done.5"
body.5:
  br label %"loop.6"
done.5:
  %".133" = add i64 %"i.4", 1
  br label %"loop.4"
loop.6:
  %"i.6" = phi  i64 [%".103", %"body.5"], [%".129", %"body.6"]
  %".114" = icmp slt i64 %"i.6", %".106"
  br i1 %".114", label %"body.6", label %"done.6"
body.6:
  %".116" = add i64 %".63", %"i.4"
  %".117" = add i64 %".66", %"i.5"
  %".118" = add i64 %".67", %"i.6"
  %".119" = mul i64 %".116", 32
  %".120" = mul i64 %".117", 4
  %".121" = add i64 %".119", %".120"
  %".122" = add i64 %".121", %".118"
  %".123" = getelementptr inbounds float, ptr %".18", i64 %".122"
  %".124" = load float, ptr %".123", align 4
  %".125" = mul i64 %"i.5", 4
  %".126" = add i64 %".125", %"i.6"
  %".127" = getelementptr inbounds float, ptr %".78", i64 %".126"
  store float %".124", ptr %".127", align 4
  %".129" = add i64 %"i.6", 1
  br label %"loop.6"
done.6:
  %".131" = add i64 %"i.5", 1
  br label %"loop.5"
then.1:
  br label %"loop.7"
end.1:
  %".230" = select  i1 %".166", ptr %".171", ptr %".172"
  %".231" = trunc i64 %".15" to i32
  %".232" = trunc i64 %".13" to i32
  %".233" = trunc i64 %"i.2" to i32
  %".234" = icmp sgt i32 %".231", 0
  %".235" = icmp slt i32 %".231", 0
  %".236" = select  i1 %".235", i32 4294967295, i32 0
  %".237" = select  i1 %".234", i32 1, i32 %".236"
  %".238" = icmp ne i32 %".237", 1
  %".239" = icmp eq i32 1, 0
  %".240" = icmp eq i32 %".231", 2147483648
  %".241" = icmp eq i32 1, 4294967295
  %".242" = and i1 %".240", %".241"
  %".243" = or i1 %".239", %".242"
  %".244" = select  i1 %".243", i32 1, i32 1
  %".245" = srem i32 %".231", %".244"
  %".246" = select  i1 %".239", i32 %".231", i32 %".245"
  %".247" = icmp ne i32 %".246", 0
  %".248" = and i1 %".238", %".247"
  %".249" = sub i32 %".231", 1
  %".250" = select  i1 %".248", i32 %".249", i32 %".231"
  %".251" = sext i32 %".250" to i64
  %".252" = sext i32 %".233" to i64
  %".253" = sext i32 0 to i64
  %".254" = mul i64 %".252", 8
  %".255" = mul i64 %".253", 4
  %".256" = icmp ule i64 %".251", 0
  %".257" = icmp ule i64 %".254", 8
  %".258" = icmp ule i64 %".255", 0
  %".259" = and i1 %".256", %".257"
  %".260" = and i1 %".259", %".258"
  %".261" = mul i64 %".251", 64
  %".262" = mul i64 %".254", 4
  %".263" = add i64 %".261", %".262"
  %".264" = add i64 %".263", %".255"
  %".265" = getelementptr float, ptr %".22", i64 %".264"
  %".266" = getelementptr i8, ptr %".3", i64 448
  %".267" = xor i1 %".260", -1
  br i1 %".267", label %"then.2", label %"end.2"
loop.7:
  %"i.7" = phi  i64 [0, %"then.1"], [%".181", %"body.7"]
  %".176" = icmp slt i64 %"i.7", 8
  br i1 %".176", label %"body.7", label %"done.7"
body.7:
  %".178" = mul i64 %"i.7", 4
  %".179" = getelementptr inbounds float, ptr %".172", i64 %".178"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".179", align 4
  %".181" = add i64 %"i.7", 1
  br label %"loop.7"
done.7:
  %".183" = icmp slt i64 %".157", 0
  %".184" = sub i64 0, %".157"
  %".185" = select  i1 %".183", i64 %".184", i64 0
  %".186" = sub i64 1, %".157"
  %".187" = icmp slt i64 %".186", 1
  %".188" = select  i1 %".187", i64 %".186", i64 1
  %".189" = icmp slt i64 %".160", 0
  %".190" = sub i64 0, %".160"
  %".191" = select  i1 %".189", i64 %".190", i64 0
  %".192" = sub i64 16, %".160"
  %".193" = icmp slt i64 %".192", 8
  %".194" = select  i1 %".193", i64 %".192", i64 8
  %".195" = icmp slt i64 %".161", 0
  %".196" = sub i64 0, %".161"
  %".197" = select  i1 %".195", i64 %".196", i64 0
  %".198" = sub i64 4, %".161"
  %".199" = icmp slt i64 %".198", 4
  %".200" = select  i1 %".199", i64 %".198", i64 4
  br label %"loop.8"
loop.8:
  %"i.8" = phi  i64 [%".185", %"done.7"], [%".227", %"done.9"]
  %".202" = icmp slt i64 %"i.8", %".188"
  br i1 %".202", label %"body.8", label %"done.8"
body.8:
  br label %"loop.9"
done.8:
  br label %"end.1"
loop.9:
  %"i.9" = phi  i64 [%".191", %"body.8"], [%".225", %"done.10"]
  %".205" = icmp slt i64 %"i.9", %".194"
  br i1 %".205", label %"body.9", label %"done.9"
body.9:
  br label %"loop.10"
done.9:
  %".227" = add i64 %"i.8", 1
  br label %"loop.8"
loop.10:
  %"i.10" = phi  i64 [%".197", %"body.9"], [%".223", %"body.10"]
  %".208" = icmp slt i64 %"i.10", %".200"
  br i1 %".208", label %"body.10", label %"done.10"
body.10:
  %".210" = add i64 %".157", %"i.8"
  %".211" = add i64 %".160", %"i.9"
  %".212" = add i64 %".161", %"i.10"
  %".213" = mul i64 %".210", 64
  %".214" = mul i64 %".211", 4
  %".215" = add i64 %".213", %".214"
  %".216" = add i64 %".215", %".212"
  %".217" = getelementptr inbounds float, ptr %".20", i64 %".216"
  %".218" = load float, ptr %".217", align 4
  %".219" = mul i64 %"i.9", 4
  %".220" = add i64 %".219", %"i.10"
  %".221" = getelementptr inbounds float, ptr %".172", i64 %".220"
  store float %".218", ptr %".221", align 4
  %".223" = add i64 %"i.10", 1
  br label %"loop.10"
done.10:
  %".225" = add i64 %"i.9", 1
  br label %"loop.9"
then.2:
  br label %"loop.11"
end.2:
  %".324" = select  i1 %".260", ptr %".265", ptr %".266"
  %".325" = trunc i64 %".15" to i32
  %".326" = trunc i64 %".13" to i32
  %".327" = trunc i64 %"i.2" to i32
  %".328" = sext i32 %".325" to i64
  %".329" = sext i32 %".326" to i64
  %".330" = sext i32 0 to i64
  %".331" = mul i64 %".329", 4
  %".332" = mul i64 %".330", 4
  %".333" = icmp ule i64 %".328", 0
  %".334" = icmp ule i64 %".331", 4
  %".335" = icmp ule i64 %".332", 0
  %".336" = and i1 %".333", %".334"
  %".337" = and i1 %".336", %".335"
  %".338" = mul i64 %".328", 32
  %".339" = mul i64 %".331", 4
  %".340" = add i64 %".338", %".339"
  %".341" = add i64 %".340", %".332"
  %".342" = getelementptr float, ptr %".24", i64 %".341"
  %".343" = getelementptr i8, ptr %".3", i64 576
  %".344" = xor i1 %".337", -1
  br i1 %".344", label %"then.3", label %"end.3"
loop.11:
  %"i.11" = phi  i64 [0, %"then.2"], [%".275", %"body.11"]
  %".270" = icmp slt i64 %"i.11", 8
  br i1 %".270", label %"body.11", label %"done.11"
body.11:
  %".272" = mul i64 %"i.11", 4
  %".273" = getelementptr inbounds float, ptr %".266", i64 %".272"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".273", align 4
  %".275" = add i64 %"i.11", 1
  br label %"loop.11"
done.11:
  %".277" = icmp slt i64 %".251", 0
  %".278" = sub i64 0, %".251"
  %".279" = select  i1 %".277", i64 %".278", i64 0
  %".280" = sub i64 1, %".251"
  %".281" = icmp slt i64 %".280", 1
  %".282" = select  i1 %".281", i64 %".280", i64 1
  %".283" = icmp slt i64 %".254", 0
  %".284" = sub i64 0, %".254"
  %".285" = select  i1 %".283", i64 %".284", i64 0
  %".286" = sub i64 16, %".254"
  %".287" = icmp slt i64 %".286", 8
  %".288" = select  i1 %".287", i64 %".286", i64 8
  %".289" = icmp slt i64 %".255", 0
  %".290" = sub i64 0, %".255"
  %".291" = select  i1 %".289", i64 %".290", i64 0
  %".292" = sub i64 4, %".255"
  %".293" = icmp slt i64 %".292", 4
  %".294" = select  i1 %".293", i64 %".292", i64 4
  br label %"loop.12"
loop.12:
  %"i.12" = phi  i64 [%".279", %"done.11"], [%".321", %"done.13"]
  %".296" = icmp slt i64 %"i.12", %".282"
  br i1 %".296", label %"body.12", label %"done.12"
body.12:
  br label %"loop.13"
done.12:
  br label %"end.2"
loop.13:
  %"i.13" = phi  i64 [%".285", %"body.12"], [%".319", %"done.14"]
  %".299" = icmp slt i64 %"i.13", %".288"
  br i1 %".299", label %"body.13", label %"done.13"
body.13:
  br label %"loop.14"
done.13:
  %".321" = add i64 %"i.12", 1
  br label %"loop.12"
loop.14:
  %"i.14" = phi  i64 [%".291", %"body.13"], [%".317", %"body.14"]
  %".302" = icmp slt i64 %"i.14", %".294"
  br i1 %".302", label %"body.14", label %"done.14"
body.14:
  %".304" = add i64 %".251", %"i.12"
  %".305" = add i64 %".254", %"i.13"
  %".306" = add i64 %".255", %"i.14"
  %".307" = mul i64 %".304", 64
  %".308" = mul i64 %".305", 4
  %".309" = add i64 %".307", %".308"
  %".310" = add i64 %".309", %".306"
  %".311" = getelementptr inbounds float, ptr %".22", i64 %".310"
  %".312" = load float, ptr %".311", align 4
  %".313" = mul i64 %"i.13", 4
  %".314" = add i64 %".313", %"i.14"
  %".315" = getelementptr inbounds float, ptr %".266", i64 %".314"
  store float %".312", ptr %".315", align 4
  %".317" = add i64 %"i.14", 1
  br label %"loop.14"
done.14:
  %".319" = add i64 %"i.13", 1
  br label %"loop.13"
then.3:
  br label %"loop.15"
end.3:
  %".401" = select  i1 %".337", ptr %".342", ptr %".343"
  %".402" = trunc i64 %".15" to i32
  %".403" = trunc i64 %".13" to i32
  %".404" = trunc i64 %"i.2" to i32
  %".405" = sext i32 %".402" to i64
  %".406" = sext i32 0 to i64
  %".407" = sext i32 %".403" to i64
  %".408" = mul i64 %".407", 4
  %".409" = icmp ule i64 %".405", 0
  %".410" = icmp ule i64 %".406", 0
  %".411" = icmp ule i64 %".408", 4
  %".412" = and i1 %".409", %".410"
  %".413" = and i1 %".412", %".411"
  %".414" = mul i64 %".405", 8
  %".415" = mul i64 %".406", 8
  %".416" = add i64 %".414", %".415"
  %".417" = add i64 %".416", %".408"
  %".418" = getelementptr float, ptr %".26", i64 %".417"
  %".419" = getelementptr i8, ptr %".3", i64 640
  %".420" = xor i1 %".413", -1
  br i1 %".420", label %"then.4", label %"end.4"
loop.15:
  %"i.15" = phi  i64 [0, %"then.3"], [%".352", %"body.15"]
  %".347" = icmp slt i64 %"i.15", 4
  br i1 %".347", label %"body.15", label %"done.15"
body.15:
  %".349" = mul i64 %"i.15", 4
  %".350" = getelementptr inbounds float, ptr %".343", i64 %".349"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".350", align 4
  %".352" = add i64 %"i.15", 1
  br label %"loop.15"
done.15:
  %".354" = icmp slt i64 %".328", 0
  %".355" = sub i64 0, %".328"
  %".356" = select  i1 %".354", i64 %".355", i64 0
  %".357" = sub i64 1, %".328"
  %".358" = icmp slt i64 %".357", 1
  %".359" = select  i1 %".358", i64 %".357", i64 1
  %".360" = icmp slt i64 %".331", 0
  %".361" = sub i64 0, %".331"
  %".362" = select  i1 %".360", i64 %".361", i64 0
  %".363" = sub i64 8, %".331"
  %".364" = icmp slt i64 %".363", 4
  %".365" = select  i1 %".364", i64 %".363", i64 4
  %".366" = icmp slt i64 %".332", 0
  %".367" = sub i64 0, %".332"
  %".368" = select  i1 %".366", i64 %".367", i64 0
  %".369" = sub i64 4, %".332"
  %".370" = icmp slt i64 %".369", 4
  %".371" = select  i1 %".370", i64 %".369", i64 4
  br label %"loop.16"
loop.16:
  %"i.16" = phi  i64 [%".356", %"done.15"], [%".398", %"done.17"]
  %".373" = icmp slt i64 %"i.16", %".359"
  br i1 %".373", label %"body.16", label %"done.16"
body.16:
  br label %"loop.17"
done.16:
  br label %"end.3"
loop.17:
  %"i.17" = phi  i64 [%".362", %"body.16"], [%".396", %"done.18"]
  %".376" = icmp slt i64 %"i.17", %".365"
  br i1 %".376", label %"body.17", label %"done.17"
body.17:
  br label %"loop.18"
done.17:
  %".398" = add i64 %"i.16", 1
  br label %"loop.16"
loop.18:
  %"i.18" = phi  i64 [%".368", %"body.17"], [%".394", %"body.18"]
  %".379" = icmp slt i64 %"i.18", %".371"
  br i1 %".379", label %"body.18", label %"done.18"
body.18:
  %".381" = add i64 %".328", %"i.16"
  %".382" = add i64 %".331", %"i.17"
  %".383" = add i64 %".332", %"i.18"
  %".384" = mul i64 %".381", 32
  %".385" = mul i64 %".382", 4
  %".386" = add i64 %".384", %".385"
  %".387" = add i64 %".386", %".383"
  %".388" = getelementptr inbounds float, ptr %".24", i64 %".387"
  %".389" = load float, ptr %".388", align 4
  %".390" = mul i64 %"i.17", 4
  %".391" = add i64 %".390", %"i.18"
  %".392" = getelementptr inbounds float, ptr %".343", i64 %".391"
  store float %".389", ptr %".392", align 4
  %".394" = add i64 %"i.18", 1
  br label %"loop.18"
done.18:
  %".396" = add i64 %"i.17", 1
  br label %"loop.17"
then.4:
  %".422" = getelementptr inbounds float, ptr %".419", i64 0
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".422", align 4
  %".424" = icmp slt i64 %".405", 0
  %".425" = sub i64 0, %".405"
  %".426" = select  i1 %".424", i64 %".425", i64 0
  %".427" = sub i64 1, %".405"
  %".428" = icmp slt i64 %".427", 1
  %".429" = select  i1 %".428", i64 %".427", i64 1
  %".430" = icmp slt i64 %".406", 0
  %".431" = sub i64 0, %".406"
  %".432" = select  i1 %".430", i64 %".431", i64 0
  %".433" = sub i64 1, %".406"
  %".434" = icmp slt i64 %".433", 1
  %".435" = select  i1 %".434", i64 %".433", i64 1
  %".436" = icmp slt i64 %".408", 0
  %".437" = sub i64 0, %".408"
  %".438" = select  i1 %".436", i64 %".437", i64 0
  %".439" = sub i64 8, %".408"
  %".440" = icmp slt i64 %".439", 4
  %".441" = select  i1 %".440", i64 %".439", i64 4
  br label %"loop.19"
end.4:
  %".471" = select  i1 %".413", ptr %".418", ptr %".419"
  %".472" = select  i1 %".413", i64 8, i64 4
  %".473" = icmp eq i32 %".56", 0
  %".474" = zext i1 %".473" to i32
  %".475" = sext i32 %".474" to i64
  %".476" = icmp slt i64 %".475", 0
  %".477" = select  i1 %".476", i64 0, i64 %".475"
  switch i64 %".477", label %"case.1" [i64 0, label %"case.0"]
loop.19:
  %"i.19" = phi  i64 [%".426", %"then.4"], [%".468", %"done.20"]
  %".443" = icmp slt i64 %"i.19", %".429"
  br i1 %".443", label %"body.19", label %"done.19"
body.19:
  br label %"loop.20"
done.19:
  br label %"end.4"
loop.20:
  %"i.20" = phi  i64 [%".432", %"body.19"], [%".466", %"done.21"]
  %".446" = icmp slt i64 %"i.20", %".435"
  br i1 %".446", label %"body.20", label %"done.20"
body.20:
  br label %"loop.21"
done.20:
  %".468" = add i64 %"i.19", 1
  br label %"loop.19"
loop.21:
  %"i.21" = phi  i64 [%".438", %"body.20"], [%".464", %"body.21"]
  %".449" = icmp slt i64 %"i.21", %".441"
  br i1 %".449", label %"body.21", label %"done.21"
body.21:
  %".451" = add i64 %".405", %"i.19"
  %".452" = add i64 %".406", %"i.20"
  %".453" = add i64 %".408", %"i.21"
  %".454" = mul i64 %".451", 8
  %".455" = mul i64 %".452", 8
  %".456" = add i64 %".454", %".455"
  %".457" = add i64 %".456", %".453"
  %".458" = getelementptr inbounds float, ptr %".26", i64 %".457"
  %".459" = load float, ptr %".458", align 4
  %".460" = mul i64 %"i.20", 4
  %".461" = add i64 %".460", %"i.21"
  %".462" = getelementptr inbounds float, ptr %".419", i64 %".461"
  store float %".459", ptr %".462", align 4
  %".464" = add i64 %"i.21", 1
  br label %"loop.21"
done.21:
  %".466" = add i64 %"i.20", 1
  br label %"loop.20"
switch.done:
  %".526" = mul i32 %".55", 4
  %".527" = add i32 %".526", 3
  %".528" = mul i32 %".56", 8
  %".529" = icmp sle i32 %".528", %".527"
  %".530" = zext i1 %".529" to i32
  %".531" = sext i32 %".530" to i64
  %".532" = icmp slt i64 %".531", 0
  %".533" = select  i1 %".532", i64 0, i64 %".531"
  switch i64 %".533", label %"case.1.1" [i64 0, label %"case.0.1"]
case.0:
  br label %"switch.done"
case.1:
  br label %"loop.22"
loop.22:
  %"i.22" = phi  i64 [0, %"case.1"], [%".505", %"body.22"]
  %".481" = icmp slt i64 %"i.22", 4
  br i1 %".481", label %"body.22", label %"done.22"
body.22:
  %".483" = getelementptr inbounds float, ptr %".136", i64 %"i.22"
  %".484" = getelementptr inbounds float, ptr %".136", i64 %"i.22"
  %".485" = load float, ptr %".484", align 4
  %".486" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".485", i32 0
  %".487" = add i64 4, %"i.22"
  %".488" = getelementptr inbounds float, ptr %".136", i64 %".487"
  %".489" = load float, ptr %".488", align 4
  %".490" = insertelement <4 x float> %".486", float %".489", i32 1
  %".491" = add i64 8, %"i.22"
  %".492" = getelementptr inbounds float, ptr %".136", i64 %".491"
  %".493" = load float, ptr %".492", align 4
  %".494" = insertelement <4 x float> %".490", float %".493", i32 2
  %".495" = add i64 12, %"i.22"
  %".496" = getelementptr inbounds float, ptr %".136", i64 %".495"
  %".497" = load float, ptr %".496", align 4
  %".498" = insertelement <4 x float> %".494", float %".497", i32 3
  %".499" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x3fe0000000000000, i32 0
  %".500" = shufflevector <4 x float> %".499", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".501" = fmul <4 x float> %".498", %".500"
  %".502" = mul i64 %"i.22", 4
  %".503" = getelementptr inbounds float, ptr %".27", i64 %".502"
  store <4 x float> %".501", ptr %".503", align 4
  %".505" = add i64 %"i.22", 1
  br label %"loop.22"
done.22:
  %".507" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc6293e5940000000, i32 0
  %".508" = shufflevector <4 x float> %".507", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".509" = getelementptr inbounds float, ptr %".36", i64 0
  store <4 x float> %".508", ptr %".509", align 4
  %".511" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".512" = shufflevector <4 x float> %".511", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".513" = getelementptr inbounds float, ptr %".39", i64 0
  store <4 x float> %".512", ptr %".513", align 4
  br label %"loop.23"
loop.23:
  %"i.23" = phi  i64 [0, %"done.22"], [%".523", %"body.23"]
  %".516" = icmp slt i64 %"i.23", 4
  br i1 %".516", label %"body.23", label %"done.23"
body.23:
  %".518" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".519" = shufflevector <4 x float> %".518", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".520" = mul i64 %"i.23", 4
  %".521" = getelementptr inbounds float, ptr %".42", i64 %".520"
  store <4 x float> %".519", ptr %".521", align 4
  %".523" = add i64 %"i.23", 1
  br label %"loop.23"
done.23:
  br label %"switch.done"
switch.done.1:
  %".841" = icmp eq i32 %".56", 1
  %".842" = zext i1 %".841" to i32
  %".843" = sext i32 %".842" to i64
  %".844" = icmp slt i64 %".843", 0
  %".845" = select  i1 %".844", i64 0, i64 %".843"
  switch i64 %".845", label %"case.1.2" [i64 0, label %"case.0.2"]
case.0.1:
  br label %"switch.done.1"
case.1.1:
  %".536" = getelementptr i8, ptr %".3", i64 704
  %".537" = getelementptr i8, ptr %".3", i64 832
  br label %"loop.24"
loop.24:
  %"i.24" = phi  i64 [0, %"case.1.1"], [%".645", %"k.done"]
  %".539" = icmp slt i64 %"i.24", 4
  br i1 %".539", label %"body.24", label %"done.24"
body.24:
  br label %"k"
done.24:
  %".647" = getelementptr i8, ptr %".3", i64 1344
  %".648" = getelementptr i8, ptr %".3", i64 1408
  store <4 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <4 x float>* %".649"
  br label %"loop.25"
k:
  %".542" = phi  i64 [0, %"body.24"], [%".612", %"k.body"]
  %".543" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.24"], [%".569", %"k.body"]
  %".544" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.24"], [%".575", %"k.body"]
  %".545" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.24"], [%".581", %"k.body"]
  %".546" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.24"], [%".587", %"k.body"]
  %".547" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.24"], [%".593", %"k.body"]
  %".548" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.24"], [%".599", %"k.body"]
  %".549" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.24"], [%".605", %"k.body"]
  %".550" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.24"], [%".611", %"k.body"]
  %".551" = icmp slt i64 %".542", 4
  br i1 %".551", label %"k.body", label %"k.done"
k.body:
  %".553" = add i64 %".542", 32
  %".554" = icmp slt i64 %".553", 3
  %".555" = select  i1 %".554", i64 %".553", i64 3
  %".556" = mul i64 %".555", 4
  %".557" = add i64 %".556", %"i.24"
  %".558" = getelementptr inbounds float, ptr %".27", i64 %".557"
  call void @"llvm.prefetch.p0"(ptr %".558", i32 0, i32 3, i32 1)
  %".560" = mul i64 %".542", 4
  %".561" = add i64 %".560", %"i.24"
  %".562" = getelementptr inbounds float, ptr %".27", i64 %".561"
  %".563" = load <4 x float>, ptr %".562", align 4
  %".564" = shufflevector <4 x float> %".563", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".565" = getelementptr inbounds float, ptr %".230", i64 %".542"
  %".566" = load float, ptr %".565", align 4
  %".567" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".566", i32 0
  %".568" = shufflevector <16 x float> %".567", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".569" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".568", <16 x float> %".564", <16 x float> %".543")
  %".570" = add i64 4, %".542"
  %".571" = getelementptr inbounds float, ptr %".230", i64 %".570"
  %".572" = load float, ptr %".571", align 4
  %".573" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".572", i32 0
  %".574" = shufflevector <16 x float> %".573", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".575" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".574", <16 x float> %".564", <16 x float> %".544")
  %".576" = add i64 8, %".542"
  %".577" = getelementptr inbounds float, ptr %".230", i64 %".576"
  %".578" = load float, ptr %".577", align 4
  %".579" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".578", i32 0
  %".580" = shufflevector <16 x float> %".579", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".581" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".580", <16 x float> %".564", <16 x float> %".545")
  %".582" = add i64 12, %".542"
  %".583" = getelementptr inbounds float, ptr %".230", i64 %".582"
  %".584" = load float, ptr %".583", align 4
  %".585" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".584", i32 0
  %".586" = shufflevector <16 x float> %".585", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".587" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".586", <16 x float> %".564", <16 x float> %".546")
  %".588" = add i64 16, %".542"
  %".589" = getelementptr inbounds float, ptr %".230", i64 %".588"
  %".590" = load float, ptr %".589", align 4
  %".591" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".590", i32 0
  %".592" = shufflevector <16 x float> %".591", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".593" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".592", <16 x float> %".564", <16 x float> %".547")
  %".594" = add i64 20, %".542"
  %".595" = getelementptr inbounds float, ptr %".230", i64 %".594"
  %".596" = load float, ptr %".595", align 4
  %".597" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".596", i32 0
  %".598" = shufflevector <16 x float> %".597", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".599" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".598", <16 x float> %".564", <16 x float> %".548")
  %".600" = add i64 24, %".542"
  %".601" = getelementptr inbounds float, ptr %".230", i64 %".600"
  %".602" = load float, ptr %".601", align 4
  %".603" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".602", i32 0
  %".604" = shufflevector <16 x float> %".603", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".605" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".604", <16 x float> %".564", <16 x float> %".549")
  %".606" = add i64 28, %".542"
  %".607" = getelementptr inbounds float, ptr %".230", i64 %".606"
  %".608" = load float, ptr %".607", align 4
  %".609" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".608", i32 0
  %".610" = shufflevector <16 x float> %".609", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".611" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".610", <16 x float> %".564", <16 x float> %".550")
  %".612" = add i64 %".542", 1
  br label %"k"
k.done:
  %".614" = shufflevector <16 x float> %".543", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".615" = getelementptr inbounds float, ptr %".536", i64 %"i.24"
  store <4 x float> %".614", ptr %".615", align 4
  %".617" = shufflevector <16 x float> %".544", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".618" = add i64 4, %"i.24"
  %".619" = getelementptr inbounds float, ptr %".536", i64 %".618"
  store <4 x float> %".617", ptr %".619", align 4
  %".621" = shufflevector <16 x float> %".545", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".622" = add i64 8, %"i.24"
  %".623" = getelementptr inbounds float, ptr %".536", i64 %".622"
  store <4 x float> %".621", ptr %".623", align 4
  %".625" = shufflevector <16 x float> %".546", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".626" = add i64 12, %"i.24"
  %".627" = getelementptr inbounds float, ptr %".536", i64 %".626"
  store <4 x float> %".625", ptr %".627", align 4
  %".629" = shufflevector <16 x float> %".547", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".630" = add i64 16, %"i.24"
  %".631" = getelementptr inbounds float, ptr %".536", i64 %".630"
  store <4 x float> %".629", ptr %".631", align 4
  %".633" = shufflevector <16 x float> %".548", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".634" = add i64 20, %"i.24"
  %".635" = getelementptr inbounds float, ptr %".536", i64 %".634"
  store <4 x float> %".633", ptr %".635", align 4
  %".637" = shufflevector <16 x float> %".549", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".638" = add i64 24, %"i.24"
  %".639" = getelementptr inbounds float, ptr %".536", i64 %".638"
  store <4 x float> %".637", ptr %".639", align 4
  %".641" = shufflevector <16 x float> %".550", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".642" = add i64 28, %"i.24"
  %".643" = getelementptr inbounds float, ptr %".536", i64 %".642"
  store <4 x float> %".641", ptr %".643", align 4
  %".645" = add i64 %"i.24", 4
  br label %"loop.24"
loop.25:
  %"i.25" = phi  i64 [0, %"done.24"], [%".684", %"body.25"]
  %".652" = icmp slt i64 %"i.25", 8
  br i1 %".652", label %"body.25", label %"done.25"
body.25:
  %".654" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".528", i32 0
  %".655" = shufflevector <4 x i32> %".654", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".656" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 %"i.25", i32 0
  %".657" = shufflevector <4 x i64> %".656", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".658" = add <4 x i64> %".657", <i64 0, i64 0, i64 0, i64 0>
  %".659" = trunc <4 x i64> %".658" to <4 x i32>
  %".660" = add <4 x i32> %".655", %".659"
  %".661" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".526", i32 0
  %".662" = shufflevector <4 x i32> %".661", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".663" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 0, i32 0
  %".664" = shufflevector <4 x i64> %".663", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".665" = add <4 x i64> %".664", <i64 0, i64 1, i64 2, i64 3>
  %".666" = trunc <4 x i64> %".665" to <4 x i32>
  %".667" = add <4 x i32> %".662", %".666"
  %".668" = icmp sle <4 x i32> %".660", %".667"
  %".669" = mul i64 %"i.25", 4
  %".670" = getelementptr inbounds float, ptr %".536", i64 %".669"
  %".671" = load <4 x float>, ptr %".670", align 4
  %".672" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc6293e5940000000, i32 0
  %".673" = shufflevector <4 x float> %".672", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".674" = select  <4 x i1> %".668", <4 x float> %".671", <4 x float> %".673"
  %".675" = mul i64 %"i.25", 4
  %".676" = getelementptr inbounds float, ptr %".648", i64 %".675"
  store <4 x float> %".674", ptr %".676", align 4
  %".678" = load <4 x float>, <4 x float>* %".649"
  %".679" = fcmp ogt <4 x float> %".678", %".674"
  %".680" = select  <4 x i1> %".679", <4 x float> %".678", <4 x float> %".674"
  %".681" = fcmp uno <4 x float> %".678", %".678"
  %".682" = select  <4 x i1> %".681", <4 x float> %".678", <4 x float> %".680"
  store <4 x float> %".682", <4 x float>* %".649"
  %".684" = add i64 %"i.25", 1
  br label %"loop.25"
done.25:
  %".686" = load <4 x float>, <4 x float>* %".649"
  %".687" = getelementptr inbounds float, ptr %".647", i64 0
  store <4 x float> %".686", ptr %".687", align 4
  %".689" = getelementptr i8, ptr %".3", i64 1536
  %".690" = getelementptr inbounds float, ptr %".36", i64 0
  %".691" = load <4 x float>, ptr %".690", align 4
  %".692" = getelementptr inbounds float, ptr %".647", i64 0
  %".693" = load <4 x float>, ptr %".692", align 4
  %".694" = fcmp ogt <4 x float> %".691", %".693"
  %".695" = select  <4 x i1> %".694", <4 x float> %".691", <4 x float> %".693"
  %".696" = fcmp uno <4 x float> %".691", %".691"
  %".697" = select  <4 x i1> %".696", <4 x float> %".691", <4 x float> %".695"
  %".698" = getelementptr inbounds float, ptr %".689", i64 0
  store <4 x float> %".697", ptr %".698", align 4
  %".700" = getelementptr i8, ptr %".3", i64 1600
  %".701" = getelementptr inbounds float, ptr %".36", i64 0
  %".702" = load <4 x float>, ptr %".701", align 4
  %".703" = getelementptr inbounds float, ptr %".689", i64 0
  %".704" = load <4 x float>, ptr %".703", align 4
  %".705" = fsub <4 x float> %".702", %".704"
  %".706" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".705")
  %".707" = getelementptr inbounds float, ptr %".700", i64 0
  store <4 x float> %".706", ptr %".707", align 4
  %".709" = getelementptr i8, ptr %".3", i64 1664
  %".710" = getelementptr i8, ptr %".3", i64 1728
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".711"
  br label %"loop.26"
loop.26:
  %"i.26" = phi  i64 [0, %"done.25"], [%".729", %"body.26"]
  %".714" = icmp slt i64 %"i.26", 8
  br i1 %".714", label %"body.26", label %"done.26"
body.26:
  %".716" = mul i64 %"i.26", 4
  %".717" = getelementptr inbounds float, ptr %".648", i64 %".716"
  %".718" = load <4 x float>, ptr %".717", align 4
  %".719" = getelementptr inbounds float, ptr %".689", i64 0
  %".720" = load <4 x float>, ptr %".719", align 4
  %".721" = fsub <4 x float> %".718", %".720"
  %".722" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".721")
  %".723" = mul i64 %"i.26", 4
  %".724" = getelementptr inbounds float, ptr %".710", i64 %".723"
  store <4 x float> %".722", ptr %".724", align 4
  %".726" = load <4 x float>, <4 x float>* %".711"
  %".727" = fadd <4 x float> %".726", %".722"
  store <4 x float> %".727", <4 x float>* %".711"
  %".729" = add i64 %"i.26", 1
  br label %"loop.26"
done.26:
  %".731" = load <4 x float>, <4 x float>* %".711"
  %".732" = getelementptr inbounds float, ptr %".709", i64 0
  store <4 x float> %".731", ptr %".732", align 4
  %".734" = getelementptr inbounds float, ptr %".39", i64 0
  %".735" = load <4 x float>, ptr %".734", align 4
  %".736" = getelementptr inbounds float, ptr %".700", i64 0
  %".737" = load <4 x float>, ptr %".736", align 4
  %".738" = fmul <4 x float> %".735", %".737"
  %".739" = getelementptr inbounds float, ptr %".709", i64 0
  %".740" = load <4 x float>, ptr %".739", align 4
  %".741" = fadd <4 x float> %".738", %".740"
  %".742" = getelementptr inbounds float, ptr %".39", i64 0
  store <4 x float> %".741", ptr %".742", align 4
  br label %"loop.27"
loop.27:
  %"i.27" = phi  i64 [0, %"done.26"], [%".756", %"body.27"]
  %".745" = icmp slt i64 %"i.27", 4
  br i1 %".745", label %"body.27", label %"done.27"
body.27:
  %".747" = mul i64 %"i.27", 4
  %".748" = getelementptr inbounds float, ptr %".42", i64 %".747"
  %".749" = load <4 x float>, ptr %".748", align 4
  %".750" = getelementptr inbounds float, ptr %".700", i64 0
  %".751" = load <4 x float>, ptr %".750", align 4
  %".752" = fmul <4 x float> %".749", %".751"
  %".753" = mul i64 %"i.27", 4
  %".754" = getelementptr inbounds float, ptr %".42", i64 %".753"
  store <4 x float> %".752", ptr %".754", align 4
  %".756" = add i64 %"i.27", 1
  br label %"loop.27"
done.27:
  %".758" = getelementptr i8, ptr %".3", i64 1856
  br label %"loop.28"
loop.28:
  %"i.28" = phi  i64 [0, %"done.27"], [%".834", %"k.done.1"]
  %".760" = icmp slt i64 %"i.28", 4
  br i1 %".760", label %"body.28", label %"done.28"
body.28:
  %".762" = getelementptr inbounds float, ptr %".42", i64 %"i.28"
  %".763" = load <4 x float>, ptr %".762", align 4
  %".764" = shufflevector <4 x float> %".763", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".765" = add i64 4, %"i.28"
  %".766" = getelementptr inbounds float, ptr %".42", i64 %".765"
  %".767" = load <4 x float>, ptr %".766", align 4
  %".768" = shufflevector <4 x float> %".767", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".769" = add i64 8, %"i.28"
  %".770" = getelementptr inbounds float, ptr %".42", i64 %".769"
  %".771" = load <4 x float>, ptr %".770", align 4
  %".772" = shufflevector <4 x float> %".771", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".773" = add i64 12, %"i.28"
  %".774" = getelementptr inbounds float, ptr %".42", i64 %".773"
  %".775" = load <4 x float>, ptr %".774", align 4
  %".776" = shufflevector <4 x float> %".775", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  br label %"k.1"
done.28:
  %".836" = getelementptr inbounds float, ptr %".689", i64 0
  %".837" = load <4 x float>, ptr %".836", align 4
  %".838" = getelementptr inbounds float, ptr %".36", i64 0
  store <4 x float> %".837", ptr %".838", align 4
  br label %"switch.done.1"
k.1:
  %".778" = phi  i64 [0, %"body.28"], [%".817", %"k.body.1"]
  %".779" = phi  <16 x float> [%".764", %"body.28"], [%".795", %"k.body.1"]
  %".780" = phi  <16 x float> [%".768", %"body.28"], [%".802", %"k.body.1"]
  %".781" = phi  <16 x float> [%".772", %"body.28"], [%".809", %"k.body.1"]
  %".782" = phi  <16 x float> [%".776", %"body.28"], [%".816", %"k.body.1"]
  %".783" = icmp slt i64 %".778", 8
  br i1 %".783", label %"k.body.1", label %"k.done.1"
k.body.1:
  %".785" = mul i64 %".778", 4
  %".786" = add i64 %".785", %"i.28"
  %".787" = getelementptr inbounds float, ptr %".710", i64 %".786"
  %".788" = load <4 x float>, ptr %".787", align 4
  %".789" = shufflevector <4 x float> %".788", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".790" = mul i64 %".778", 4
  %".791" = getelementptr inbounds float, ptr %".324", i64 %".790"
  %".792" = load float, ptr %".791", align 4
  %".793" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".792", i32 0
  %".794" = shufflevector <16 x float> %".793", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".795" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".794", <16 x float> %".789", <16 x float> %".779")
  %".796" = mul i64 %".778", 4
  %".797" = add i64 %".796", 1
  %".798" = getelementptr inbounds float, ptr %".324", i64 %".797"
  %".799" = load float, ptr %".798", align 4
  %".800" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".799", i32 0
  %".801" = shufflevector <16 x float> %".800", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".802" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".801", <16 x float> %".789", <16 x float> %".780")
  %".803" = mul i64 %".778", 4
  %".804" = add i64 %".803", 2
  %".805" = getelementptr inbounds float, ptr %".324", i64 %".804"
  %".806" = load float, ptr %".805", align 4
  %".807" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".806", i32 0
  %".808" = shufflevector <16 x float> %".807", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".809" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".808", <16 x float> %".789", <16 x float> %".781")
  %".810" = mul i64 %".778", 4
  %".811" = add i64 %".810", 3
  %".812" = getelementptr inbounds float, ptr %".324", i64 %".811"
  %".813" = load float, ptr %".812", align 4
  %".814" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".813", i32 0
  %".815" = shufflevector <16 x float> %".814", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".816" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".815", <16 x float> %".789", <16 x float> %".782")
  %".817" = add i64 %".778", 1
  br label %"k.1"
k.done.1:
  %".819" = shufflevector <16 x float> %".779", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".820" = getelementptr inbounds float, ptr %".42", i64 %"i.28"
  store <4 x float> %".819", ptr %".820", align 4
  %".822" = shufflevector <16 x float> %".780", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".823" = add i64 4, %"i.28"
  %".824" = getelementptr inbounds float, ptr %".42", i64 %".823"
  store <4 x float> %".822", ptr %".824", align 4
  %".826" = shufflevector <16 x float> %".781", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".827" = add i64 8, %"i.28"
  %".828" = getelementptr inbounds float, ptr %".42", i64 %".827"
  store <4 x float> %".826", ptr %".828", align 4
  %".830" = shufflevector <16 x float> %".782", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".831" = add i64 12, %"i.28"
  %".832" = getelementptr inbounds float, ptr %".42", i64 %".831"
  store <4 x float> %".830", ptr %".832", align 4
  %".834" = add i64 %"i.28", 4
  br label %"loop.28"
switch.done.2:
  br i1 %".344", label %"then.5", label %"end.5"
case.0.2:
  br label %"switch.done.2"
case.1.2:
  %".848" = getelementptr i8, ptr %".3", i64 2880
  %".849" = getelementptr inbounds float, ptr %".36", i64 0
  %".850" = load <4 x float>, ptr %".849", align 4
  %".851" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc6193e5940000000, i32 0
  %".852" = shufflevector <4 x float> %".851", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".853" = fcmp ogt <4 x float> %".850", %".852"
  %".854" = getelementptr inbounds i8, ptr %".848", i64 0
  %".855" = zext <4 x i1> %".853" to <4 x i8>
  store <4 x i8> %".855", ptr %".854", align 1
  br label %"loop.29"
loop.29:
  %"i.29" = phi  i64 [0, %"case.1.2"], [%".889", %"body.29"]
  %".858" = icmp slt i64 %"i.29", 4
  br i1 %".858", label %"body.29", label %"done.29"
body.29:
  %".860" = getelementptr inbounds i8, ptr %".848", i64 %"i.29"
  %".861" = load i8, ptr %".860", align 1
  %".862" = icmp ne i8 %".861", 0
  %".863" = getelementptr inbounds float, ptr %".39", i64 %"i.29"
  %".864" = load float, ptr %".863", align 4
  %".865" = fdiv float 0x3ff0000000000000, %".864"
  %".866" = select  i1 %".862", float %".865", float              0x0
  %".867" = getelementptr inbounds float, ptr %".42", i64 %"i.29"
  %".868" = getelementptr inbounds float, ptr %".42", i64 %"i.29"
  %".869" = load float, ptr %".868", align 4
  %".870" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".869", i32 0
  %".871" = add i64 4, %"i.29"
  %".872" = getelementptr inbounds float, ptr %".42", i64 %".871"
  %".873" = load float, ptr %".872", align 4
  %".874" = insertelement <4 x float> %".870", float %".873", i32 1
  %".875" = add i64 8, %"i.29"
  %".876" = getelementptr inbounds float, ptr %".42", i64 %".875"
  %".877" = load float, ptr %".876", align 4
  %".878" = insertelement <4 x float> %".874", float %".877", i32 2
  %".879" = add i64 12, %"i.29"
  %".880" = getelementptr inbounds float, ptr %".42", i64 %".879"
  %".881" = load float, ptr %".880", align 4
  %".882" = insertelement <4 x float> %".878", float %".881", i32 3
  %".883" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".866", i32 0
  %".884" = shufflevector <4 x float> %".883", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".885" = fmul <4 x float> %".882", %".884"
  %".886" = mul i64 %"i.29", 4
  %".887" = getelementptr inbounds float, ptr %".401", i64 %".886"
  store <4 x float> %".885", ptr %".887", align 4
  %".889" = add i64 %"i.29", 1
  br label %"loop.29"
done.29:
  %".891" = getelementptr inbounds i8, ptr %".848", i64 0
  %".892" = load <4 x i8>, ptr %".891", align 1
  %".893" = icmp ne <4 x i8> %".892", <i8 0, i8 0, i8 0, i8 0>
  %".894" = getelementptr inbounds float, ptr %".36", i64 0
  %".895" = load <4 x float>, ptr %".894", align 4
  %".896" = getelementptr inbounds float, ptr %".39", i64 0
  %".897" = load <4 x float>, ptr %".896", align 4
  %".898" = call <4 x float> @"tilewright.log.v4f32"(<4 x float> %".897")
  %".899" = fadd <4 x float> %".895", %".898"
  %".900" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x46293e5940000000, i32 0
  %".901" = shufflevector <4 x float> %".900", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".902" = select  <4 x i1> %".893", <4 x float> %".899", <4 x float> %".901"
  %".903" = getelementptr inbounds float, ptr %".471", i64 0
  store <4 x float> %".902", ptr %".903", align 4
  br label %"switch.done.2"
then.5:
  %".907" = icmp slt i64 %".328", 0
  %".908" = sub i64 0, %".328"
  %".909" = select  i1 %".907", i64 %".908", i64 0
  %".910" = sub i64 1, %".328"
  %".911" = icmp slt i64 %".910", 1
  %".912" = select  i1 %".911", i64 %".910", i64 1
  %".913" = icmp slt i64 %".331", 0
  %".914" = sub i64 0, %".331"
  %".915" = select  i1 %".913", i64 %".914", i64 0
  %".916" = sub i64 8, %".331"
  %".917" = icmp slt i64 %".916", 4
  %".918" = select  i1 %".917", i64 %".916", i64 4
  %".919" = icmp slt i64 %".332", 0
  %".920" = sub i64 0, %".332"
  %".921" = select  i1 %".919", i64 %".920", i64 0
  %".922" = sub i64 4, %".332"
  %".923" = icmp slt i64 %".922", 4
  %".924" = select  i1 %".923", i64 %".922", i64 4
  br label %"loop.30"
end.5:
  br i1 %".420", label %"then.6", label %"end.6"
loop.30:
  %"i.30" = phi  i64 [%".909", %"then.5"], [%".951", %"done.31"]
  %".926" = icmp slt i64 %"i.30", %".912"
  br i1 %".926", label %"body.30", label %"done.30"
body.30:
  br label %"loop.31"
done.30:
  br label %"end.5"
loop.31:
  %"i.31" = phi  i64 [%".915", %"body.30"], [%".949", %"done.32"]
  %".929" = icmp slt i64 %"i.31", %".918"
  br i1 %".929", label %"body.31", label %"done.31"
body.31:
  br label %"loop.32"
done.31:
  %".951" = add i64 %"i.30", 1
  br label %"loop.30"
loop.32:
  %"i.32" = phi  i64 [%".921", %"body.31"], [%".947", %"body.32"]
  %".932" = icmp slt i64 %"i.32", %".924"
  br i1 %".932", label %"body.32", label %"done.32"
body.32:
  %".934" = add i64 %".328", %"i.30"
  %".935" = add i64 %".331", %"i.31"
  %".936" = add i64 %".332", %"i.32"
  %".937" = mul i64 %"i.31", 4
  %".938" = add i64 %".937", %"i.32"
  %".939" = getelementptr inbounds float, ptr %".343", i64 %".938"
  %".940" = load float, ptr %".939", align 4
  %".941" = mul i64 %".934", 32
  %".942" = mul i64 %".935", 4
  %".943" = add i64 %".941", %".942"
  %".944" = add i64 %".943", %".936"
  %".945" = getelementptr inbounds float, ptr %".24", i64 %".944"
  store float %".940", ptr %".945", align 4
  %".947" = add i64 %"i.32", 1
  br label %"loop.32"
done.32:
  %".949" = add i64 %"i.31", 1
  br label %"loop.31"
then.6:
  %".955" = icmp slt i64 %".405", 0
  %".956" = sub i64 0, %".405"
  %".957" = select  i1 %".955", i64 %".956", i64 0
  %".958" = sub i64 1, %".405"
  %".959" = icmp slt i64 %".958", 1
  %".960" = select  i1 %".959", i64 %".958", i64 1
  %".961" = icmp slt i64 %".406", 0
  %".962" = sub i64 0, %".406"
  %".963" = select  i1 %".961", i64 %".962", i64 0
  %".964" = sub i64 1, %".406"
  %".965" = icmp slt i64 %".964", 1
  %".966" = select  i1 %".965", i64 %".964", i64 1
  %".967" = icmp slt i64 %".408", 0
  %".968" = sub i64 0, %".408"
  %".969" = select  i1 %".967", i64 %".968", i64 0
  %".970" = sub i64 8, %".408"
  %".971" = icmp slt i64 %".970", 4
  %".972" = select  i1 %".971", i64 %".970", i64 4
  br label %"loop.33"
end.6:
  %".1002" = add i64 %"i.2", 1
  br label %"loop.2"
loop.33:
  %"i.33" = phi  i64 [%".957", %"then.6"], [%".999", %"done.34"]
  %".974" = icmp slt i64 %"i.33", %".960"
  br i1 %".974", label %"body.33", label %"done.33"
body.33:
  br label %"loop.34"
done.33:
  br label %"end.6"
loop.34:
  %"i.34" = phi  i64 [%".963", %"body.33"], [%".997", %"done.35"]
  %".977" = icmp slt i64 %"i.34", %".966"
  br i1 %".977", label %"body.34", label %"done.34"
body.34:
  br label %"loop.35"
done.34:
  %".999" = add i64 %"i.33", 1
  br label %"loop.33"
loop.35:
  %"i.35" = phi  i64 [%".969", %"body.34"], [%".995", %"body.35"]
  %".980" = icmp slt i64 %"i.35", %".972"
  br i1 %".980", label %"body.35", label %"done.35"
body.35:
  %".982" = add i64 %".405", %"i.33"
  %".983" = add i64 %".406", %"i.34"
  %".984" = add i64 %".408", %"i.35"
  %".985" = mul i64 %"i.34", 4
  %".986" = add i64 %".985", %"i.35"
  %".987" = getelementptr inbounds float, ptr %".419", i64 %".986"
  %".988" = load float, ptr %".987", align 4
  %".989" = mul i64 %".982", 8
  %".990" = mul i64 %".983", 8
  %".991" = add i64 %".989", %".990"
  %".992" = add i64 %".991", %".984"
  %".993" = getelementptr inbounds float, ptr %".26", i64 %".992"
  store float %".988", ptr %".993", align 4
  %".995" = add i64 %"i.35", 1
  br label %"loop.35"
done.35:
  %".997" = add i64 %"i.34", 1
  br label %"loop.34"
}
