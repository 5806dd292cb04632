; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".628" = alloca <4 x float>
  %".690" = alloca <4 x float>
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".2", i64 0
  %".7" = load i64, ptr %".6"
  %".8" = getelementptr i64, ptr %".2", i64 1
  %".9" = load i64, ptr %".8"
  %".10" = getelementptr i64, ptr %".2", i64 2
  %".11" = load i64, ptr %".10"
  %".12" = urem i64 %".4", %".9"
  %".13" = udiv i64 %".4", %".9"
  %".14" = urem i64 %".13", %".7"
  %".15" = udiv i64 %".13", %".7"
  %".16" = getelementptr ptr, ptr %".1", i64 0
  %".17" = load ptr, ptr %".16"
  %".18" = getelementptr ptr, ptr %".1", i64 1
  %".19" = load ptr, ptr %".18"
  %".20" = getelementptr ptr, ptr %".1", i64 2
  %".21" = load ptr, ptr %".20"
  %".22" = getelementptr ptr, ptr %".1", i64 3
  %".23" = load ptr, ptr %".22"
  %".24" = getelementptr ptr, ptr %".1", i64 4
  %".25" = load ptr, ptr %".24"
  %".26" = getelementptr i8, ptr %".3", i64 0
  %".27" = getelementptr i8, ptr %".3", i64 64
  %".28" = getelementptr i8, ptr %".3", i64 128
  %".29" = getelementptr i8, ptr %".3", i64 192
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".981", %"end.6"]
  %".31" = icmp slt i64 %"i", %".11"
  br i1 %".31", label %"body", label %"done"
body:
  %".33" = trunc i64 %".14" to i32
  %".34" = trunc i64 %".12" to i32
  %".35" = trunc i64 %"i" to i32
  %".36" = trunc i64 %".7" to i32
  %".37" = trunc i64 %".9" to i32
  %".38" = trunc i64 %".11" to i32
  %".39" = trunc i64 %".14" to i32
  %".40" = trunc i64 %".12" to i32
  %".41" = trunc i64 %"i" to i32
  %".42" = sext i32 %".39" to i64
  %".43" = sext i32 %".40" to i64
  %".44" = sext i32 0 to i64
  %".45" = mul i64 %".43", 4
  %".46" = mul i64 %".44", 4
  %".47" = icmp ule i64 %".42", 0
  %".48" = icmp ule i64 %".45", 4
  %".49" = icmp ule i64 %".46", 0
  %".50" = and i1 %".47", %".48"
  %".51" = and i1 %".50", %".49"
  %".52" = mul i64 %".42", 32
  %".53" = mul i64 %".45", 4
  %".54" = add i64 %".52", %".53"
  %".55" = add i64 %".54", %".46"
  %".56" = getelementptr float, ptr %".17", i64 %".55"
  %".57" = getelementptr i8, ptr %".3", i64 256
  %".58" = xor i1 %".51", -1
  br i1 %".58", label %"then", label %"end"
done:
  ret void
then:
  br label %"loop.1"
end:
  %".115" = select  i1 %".51", ptr %".56", ptr %".57"
  %".116" = trunc i64 %".14" to i32
  %".117" = trunc i64 %".12" to i32
  %".118" = trunc i64 %"i" to i32
  %".119" = icmp sgt i32 %".116", 0
  %".120" = icmp slt i32 %".116", 0
  %".121" = select  i1 %".120", i32 4294967295, i32 0
  %".122" = select  i1 %".119", i32 1, i32 %".121"
  %".123" = icmp ne i32 %".122", 1
  %".124" = icmp eq i32 1, 0
  %".125" = icmp eq i32 %".116", 2147483648
  %".126" = icmp eq i32 1, 4294967295
  %".127" = and i1 %".125", %".126"
  %".128" = or i1 %".124", %".127"
  %".129" = select  i1 %".128", i32 1, i32 1
  %".130" = srem i32 %".116", %".129"
  %".131" = select  i1 %".124", i32 %".116", i32 %".130"
  %".132" = icmp ne i32 %".131", 0
  %".133" = and i1 %".123", %".132"
  %".134" = sub i32 %".116", 1
  %".135" = select  i1 %".133", i32 %".134", i32 %".116"
  %".136" = sext i32 %".135" to i64
  %".137" = sext i32 %".118" to i64
  %".138" = sext i32 0 to i64
  %".139" = mul i64 %".137", 8
  %".140" = mul i64 %".138", 4
  %".141" = icmp ule i64 %".136", 0
  %".142" = icmp ule i64 %".139", 8
  %".143" = icmp ule i64 %".140", 0
  %".144" = and i1 %".141", %".142"
  %".145" = and i1 %".144", %".143"
  %".146" = mul i64 %".136", 64
  %".147" = mul i64 %".139", 4
  %".148" = add i64 %".146", %".147"
  %".149" = add i64 %".148", %".140"
  %".150" = getelementptr float, ptr %".19", i64 %".149"
  %".151" = getelementptr i8, ptr %".3", i64 320
  %".152" = xor i1 %".145", -1
  br i1 %".152", label %"then.1", label %"end.1"
loop.1:
  %"i.1" = phi  i64 [0, %"then"], [%".66", %"body.1"]
  %".61" = icmp slt i64 %"i.1", 4
  br i1 %".61", label %"body.1", label %"done.1"
body.1:
  %".63" = mul i64 %"i.1", 4
  %".64" = getelementptr inbounds float, ptr %".57", i64 %".63"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".64", align 4
  %".66" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  %".68" = icmp slt i64 %".42", 0
  %".69" = sub i64 0, %".42"
  %".70" = select  i1 %".68", i64 %".69", i64 0
  %".71" = sub i64 1, %".42"
  %".72" = icmp slt i64 %".71", 1
  %".73" = select  i1 %".72", i64 %".71", i64 1
  %".74" = icmp slt i64 %".45", 0
  %".75" = sub i64 0, %".45"
  %".76" = select  i1 %".74", i64 %".75", i64 0
  %".77" = sub i64 8, %".45"
  %".78" = icmp slt i64 %".77", 4
  %".79" = select  i1 %".78", i64 %".77", i64 4
  %".80" = icmp slt i64 %".46", 0
  %".81" = sub i64 0, %".46"
  %".82" = select  i1 %".80", i64 %".81", i64 0
  %".83" = sub i64 4, %".46"
  %".84" = icmp slt i64 %".83", 4
  %".85" = select  i1 %".84", i64 %".83", i64 4
  br label %"loop.2"
loop.2:
  %"i.2" = phi  i64 [%".70", %"done.1"], [%".112", %"done.3"]
  %".87" = icmp slt i64 %"i.2", %".73"
  br i1 %".87", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".76", %"body.2"], [%".110", %"done.4"]
  %".90" = icmp slt i64 %"i.3", %".79"
  br i1 %".90", label %"body.3", label %"done.3"
body.3:
  br label %"loop.4"
done.3:
  %".112" = add i64 %"i.2", 1
  br label %"loop.2"
loop.4:
  %"i.4" = phi  i64 [%".82", %"body.3"], [%".108", %"body.4"]
  %".93" = icmp slt i64 %"i.4", %".85"
  br i1 %".93", label %"body.4", label %"done.4"
body.4:
  %".95" = add i64 %".42", %"i.2"
  %".96" = add i64 %".45", %"i.3"
  %".97" = add i64 %".46", %"i.4"
  %".98" = mul i64 %".95", 32
  %".99" = mul i64 %".96", 4
  %".100" = add i64 %".98", %".99"
  %".101" = add i64 %".100", %".97"
  %".102" = getelementptr inbounds float, ptr %".17", i64 %".101"
  %".103" = load float, ptr %".102", align 4
  %".104" = mul i64 %"i.3", 4
  %".105" = add i64 %".104", %"i.4"
  %".106" = getelementptr inbounds float, ptr %".57", i64 %".105"
  store float %".103", ptr %".106", align 4
  %".108" = add i64 %"i.4", 1
  br label %"loop.4"
done.4:
  %".110" = add i64 %"i.3", 1
  br label %"loop.3"
then.1:
  br label %"loop.5"
end.1:
  %".209" = select  i1 %".145", ptr %".150", ptr %".151"
  %".210" = trunc i64 %".14" to i32
  %".211" = trunc i64 %".12" to i32
  %".212" = trunc i64 %"i" to i32
  %".213" = icmp sgt i32 %".210", 0
  %".214" = icmp slt i32 %".210", 0
  %".215" = select  i1 %".214", i32 4294967295, i32 0
  %".216" = select  i1 %".213", i32 1, i32 %".215"
  %".217" = icmp ne i32 %".216", 1
  %".218" = icmp eq i32 1, 0
  %".219" = icmp eq i32 %".210", 2147483648
  %".220" = icmp eq i32 1, 4294967295
  %".221" = and i1 %".219", %".220"
  %".222" = or i1 %".218", %".221"
  %".223" = select  i1 %".222", i32 1, i32 1
  %".224" = srem i32 %".210", %".223"
  %".225" = select  i1 %".218", i32 %".210", i32 %".224"
  %".226" = icmp ne i32 %".225", 0
  %".227" = and i1 %".217", %".226"
  %".228" = sub i32 %".210", 1
  %".229" = select  i1 %".227", i32 %".228", i32 %".210"
  %".230" = sext i32 %".229" to i64
  %".231" = sext i32 %".212" to i64
  %".232" = sext i32 0 to i64
  %".233" = mul i64 %".231", 8
  %".234" = mul i64 %".232", 4
  %".235" = icmp ule i64 %".230", 0
  %".236" = icmp ule i64 %".233", 8
  %".237" = icmp ule i64 %".234", 0
  %".238" = and i1 %".235", %".236"
  %".239" = and i1 %".238", %".237"
  %".240" = mul i64 %".230", 64
  %".241" = mul i64 %".233", 4
  %".242" = add i64 %".240", %".241"
  %".243" = add i64 %".242", %".234"
  %".244" = getelementptr float, ptr %".21", i64 %".243"
  %".245" = getelementptr i8, ptr %".3", i64 448
  %".246" = xor i1 %".239", -1
  br i1 %".246", label %"then.2", label %"end.2"
loop.5:
  %"i.5" = phi  i64 [0, %"then.1"], [%".160", %"body.5"]
  %".155" = icmp slt i64 %"i.5", 8
  br i1 %".155", label %"body.5", label %"done.5"
body.5:
  %".157" = mul i64 %"i.5", 4
  %".158" = getelementptr inbounds float, ptr %".151", i64 %".157"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".158", align 4
  %".160" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  %".162" = icmp slt i64 %".136", 0
  %".163" = sub i64 0, %".136"
  %".164" = select  i1 %".162", i64 %".163", i64 0
  %".165" = sub i64 1, %".136"
  %".166" = icmp slt i64 %".165", 1
  %".167" = select  i1 %".166", i64 %".165", i64 1
  %".168" = icmp slt i64 %".139", 0
  %".169" = sub i64 0, %".139"
  %".170" = select  i1 %".168", i64 %".169", i64 0
  %".171" = sub i64 16, %".139"
  %".172" = icmp slt i64 %".171", 8
  %".173" = select  i1 %".172", i64 %".171", i64 8
  %".174" = icmp slt i64 %".140", 0
  %".175" = sub i64 0, %".140"
  %".176" = select  i1 %".174", i64 %".175", i64 0
  %".177" = sub i64 4, %".140"
  %".178" = icmp slt i64 %".177", 4
  %".179" = select  i1 %".178", i64 %".177", i64 4
  br label %"loop.6"
loop.6:
  %"i.6" = phi  i64 [%".164", %"done.5"], [%".206", %"done.7"]
  %".181" = icmp slt i64 %"i.6", %".167"
  br i1 %".181", label %"body.6", label %"done.6"
body.6:
  br label %"loop.7"
done.6:
  br label %"end.1"
loop.7:
  %"i.7" = phi  i64 [%".170", %"body.6"], [%".204", %"done.8"]
  %".184" = icmp slt i64 %"i.7", %".173"
  br i1 %".184", label %"body.7", label %"done.7"
body.7:
  br label %"loop.8"
done.7:
  %".206" = add i64 %"i.6", 1
  br label %"loop.6"
loop.8:
  %"i.8" = phi  i64 [%".176", %"body.7"], [%".202", %"body.8"]
  %".187" = icmp slt i64 %"i.8", %".179"
  br i1 %".187", label %"body.8", label %"done.8"
body.8:
  %".189" = add i64 %".136", %"i.6"
  %".190" = add i64 %".139", %"i.7"
  %".191" = add i64 %".140", %"i.8"
  %".192" = mul i64 %".189", 64
  %".193" = mul i64 %".190", 4
  %".194" = add i64 %".192", %".193"
  %".195" = add i64 %".194", %".191"
  %".196" = getelementptr inbounds float, ptr %".19", i64 %".195"
  %".197" = load float, ptr %".196", align 4
  %".198" = mul i64 %"i.7", 4
  %".199" = add i64 %".198", %"i.8"
  %".200" = getelementptr inbounds float, ptr %".151", i64 %".199"
  store float %".197", ptr %".200", align 4
  %".202" = add i64 %"i.8", 1
  br label %"loop.8"
done.8:
  %".204" = add i64 %"i.7", 1
  br label %"loop.7"
then.2:
  br label %"loop.9"
end.2:
  %".303" = select  i1 %".239", ptr %".244", ptr %".245"
  %".304" = trunc i64 %".14" to i32
  %".305" = trunc i64 %".12" to i32
  %".306" = trunc i64 %"i" to i32
  %".307" = sext i32 %".304" to i64
  %".308" = sext i32 %".305" to i64
  %".309" = sext i32 0 to i64
  %".310" = mul i64 %".308", 4
  %".311" = mul i64 %".309", 4
  %".312" = icmp ule i64 %".307", 0
  %".313" = icmp ule i64 %".310", 4
  %".314" = icmp ule i64 %".311", 0
  %".315" = and i1 %".312", %".313"
  %".316" = and i1 %".315", %".314"
  %".317" = mul i64 %".307", 32
  %".318" = mul i64 %".310", 4
  %".319" = add i64 %".317", %".318"
  %".320" = add i64 %".319", %".311"
  %".321" = getelementptr float, ptr %".23", i64 %".320"
  %".322" = getelementptr i8, ptr %".3", i64 576
  %".323" = xor i1 %".316", -1
  br i1 %".323", label %"then.3", label %"end.3"
loop.9:
  %"i.9" = phi  i64 [0, %"then.2"], [%".254", %"body.9"]
  %".249" = icmp slt i64 %"i.9", 8
  br i1 %".249", label %"body.9", label %"done.9"
body.9:
  %".251" = mul i64 %"i.9", 4
  %".252" = getelementptr inbounds float, ptr %".245", i64 %".251"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".252", align 4
  %".254" = add i64 %"i.9", 1
  br label %"loop.9"
done.9:
  %".256" = icmp slt i64 %".230", 0
  %".257" = sub i64 0, %".230"
  %".258" = select  i1 %".256", i64 %".257", i64 0
  %".259" = sub i64 1, %".230"
  %".260" = icmp slt i64 %".259", 1
  %".261" = select  i1 %".260", i64 %".259", i64 1
  %".262" = icmp slt i64 %".233", 0
  %".263" = sub i64 0, %".233"
  %".264" = select  i1 %".262", i64 %".263", i64 0
  %".265" = sub i64 16, %".233"
  %".266" = icmp slt i64 %".265", 8
  %".267" = select  i1 %".266", i64 %".265", i64 8
  %".268" = icmp slt i64 %".234", 0
  %".269" = sub i64 0, %".234"
  %".270" = select  i1 %".268", i64 %".269", i64 0
  %".271" = sub i64 4, %".234"
  %".272" = icmp slt i64 %".271", 4
  %".273" = select  i1 %".272", i64 %".271", i64 4
  br label %"loop.10"
loop.10:
  %"i.10" = phi  i64 [%".258", %"done.9"], [%".300", %"done.11"]
  %".275" = icmp slt i64 %"i.10", %".261"
  br i1 %".275", label %"body.10", label %"done.10"
body.10:
  br label %"loop.11"
done.10:
  br label %"end.2"
loop.11:
  %"i.11" = phi  i64 [%".264", %"body.10"], [%".298", %"done.12"]
  %".278" = icmp slt i64 %"i.11", %".267"
  br i1 %".278", label %"body.11", label %"done.11"
body.11:
  br label %"loop.12"
done.11:
  %".300" = add i64 %"i.10", 1
  br label %"loop.10"
loop.12:
  %"i.12" = phi  i64 [%".270", %"body.11"], [%".296", %"body.12"]
  %".281" = icmp slt i64 %"i.12", %".273"
  br i1 %".281", label %"body.12", label %"done.12"
body.12:
  %".283" = add i64 %".230", %"i.10"
  %".284" = add i64 %".233", %"i.11"
  %".285" = add i64 %".234", %"i.12"
  %".286" = mul i64 %".283", 64
  %".287" = mul i64 %".284", 4
  %".288" = add i64 %".286", %".287"
  %".289" = add i64 %".288", %".285"
  %".290" = getelementptr inbounds float, ptr %".21", i64 %".289"
  %".291" = load float, ptr %".290", align 4
  %".292" = mul i64 %"i.11", 4
  %".293" = add i64 %".292", %"i.12"
  %".294" = getelementptr inbounds float, ptr %".245", i64 %".293"
  store float %".291", ptr %".294", align 4
  %".296" = add i64 %"i.12", 1
  br label %"loop.12"
done.12:
  %".298" = add i64 %"i.11", 1
  br label %"loop.11"
then.3:
  br label %"loop.13"
end.3:
  %".380" = select  i1 %".316", ptr %".321", ptr %".322"
  %".381" = trunc i64 %".14" to i32
  %".382" = trunc i64 %".12" to i32
  %".383" = trunc i64 %"i" to i32
  %".384" = sext i32 %".381" to i64
  %".385" = sext i32 0 to i64
  %".386" = sext i32 %".382" to i64
  %".387" = mul i64 %".386", 4
  %".388" = icmp ule i64 %".384", 0
  %".389" = icmp ule i64 %".385", 0
  %".390" = icmp ule i64 %".387", 4
  %".391" = and i1 %".388", %".389"
  %".392" = and i1 %".391", %".390"
  %".393" = mul i64 %".384", 8
  %".394" = mul i64 %".385", 8
  %".395" = add i64 %".393", %".394"
  %".396" = add i64 %".395", %".387"
  %".397" = getelementptr float, ptr %".25", i64 %".396"
  %".398" = getelementptr i8, ptr %".3", i64 640
  %".399" = xor i1 %".392", -1
  br i1 %".399", label %"then.4", label %"end.4"
loop.13:
  %"i.13" = phi  i64 [0, %"then.3"], [%".331", %"body.13"]
  %".326" = icmp slt i64 %"i.13", 4
  br i1 %".326", label %"body.13", label %"done.13"
body.13:
  %".328" = mul i64 %"i.13", 4
  %".329" = getelementptr inbounds float, ptr %".322", i64 %".328"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".329", align 4
  %".331" = add i64 %"i.13", 1
  br label %"loop.13"
done.13:
  %".333" = icmp slt i64 %".307", 0
  %".334" = sub i64 0, %".307"
  %".335" = select  i1 %".333", i64 %".334", i64 0
  %".336" = sub i64 1, %".307"
  %".337" = icmp slt i64 %".336", 1
  %".338" = select  i1 %".337", i64 %".336", i64 1
  %".339" = icmp slt i64 %".310", 0
  %".340" = sub i64 0, %".310"
  %".341" = select  i1 %".339", i64 %".340", i64 0
  %".342" = sub i64 8, %".310"
  %".343" = icmp slt i64 %".342", 4
  %".344" = select  i1 %".343", i64 %".342", i64 4
  %".345" = icmp slt i64 %".311", 0
  %".346" = sub i64 0, %".311"
  %".347" = select  i1 %".345", i64 %".346", i64 0
  %".348" = sub i64 4, %".311"
  %".349" = icmp slt i64 %".348", 4
  %".350" = select  i1 %".349", i64 %".348", i64 4
  br label %"loop.14"
loop.14:
  %"i.14" = phi  i64 [%".335", %"done.13"], [%".377", %"done.15"]
  %".352" = icmp slt i64 %"i.14", %".338"
  br i1 %".352", label %"body.14", label %"done.14"
body.14:
  br label %"loop.15"
done.14:
  br label %"end.3"
loop.15:
  %"i.15" = phi  i64 [%".341", %"body.14"], [%".375", %"done.16"]
  %".355" = icmp slt i64 %"i.15", %".344"
  br i1 %".355", label %"body.15", label %"done.15"
body.15:
  br label %"loop.16"
done.15:
  %".377" = add i64 %"i.14", 1
  br label %"loop.14"
loop.16:
  %"i.16" = phi  i64 [%".347", %"body.15"], [%".373", %"body.16"]
  %".358" = icmp slt i64 %"i.16", %".350"
  br i1 %".358", label %"body.16", label %"done.16"
body.16:
  %".360" = add i64 %".307", %"i.14"
  %".361" = add i64 %".310", %"i.15"
  %".362" = add i64 %".311", %"i.16"
  %".363" = mul i64 %".360", 32
  %".364" = mul i64 %".361", 4
  %".365" = add i64 %".363", %".364"
  %".366" = add i64 %".365", %".362"
  %".367" = getelementptr inbounds float, ptr %".23", i64 %".366"
  %".368" = load float, ptr %".367", align 4
  %".369" = mul i64 %"i.15", 4
  %".370" = add i64 %".369", %"i.16"
  %".371" = getelementptr inbounds float, ptr %".322", i64 %".370"
  store float %".368", ptr %".371", align 4
  %".373" = add i64 %"i.16", 1
  br label %"loop.16"
done.16:
  %".375" = add i64 %"i.15", 1
  br label %"loop.15"
then.4:
  %".401" = getelementptr inbounds float, ptr %".398", i64 0
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".401", align 4
  %".403" = icmp slt i64 %".384", 0
  %".404" = sub i64 0, %".384"
  %".405" = select  i1 %".403", i64 %".404", i64 0
  %".406" = sub i64 1, %".384"
  %".407" = icmp slt i64 %".406", 1
  %".408" = select  i1 %".407", i64 %".406", i64 1
  %".409" = icmp slt i64 %".385", 0
  %".410" = sub i64 0, %".385"
  %".411" = select  i1 %".409", i64 %".410", i64 0
  %".412" = sub i64 1, %".385"
  %".413" = icmp slt i64 %".412", 1
  %".414" = select  i1 %".413", i64 %".412", i64 1
  %".415" = icmp slt i64 %".387", 0
  %".416" = sub i64 0, %".387"
  %".417" = select  i1 %".415", i64 %".416", i64 0
  %".418" = sub i64 8, %".387"
  %".419" = icmp slt i64 %".418", 4
  %".420" = select  i1 %".419", i64 %".418", i64 4
  br label %"loop.17"
end.4:
  %".450" = select  i1 %".392", ptr %".397", ptr %".398"
  %".451" = select  i1 %".392", i64 8, i64 4
  %".452" = icmp eq i32 %".35", 0
  %".453" = zext i1 %".452" to i32
  %".454" = sext i32 %".453" to i64
  %".455" = icmp slt i64 %".454", 0
  %".456" = select  i1 %".455", i64 0, i64 %".454"
  switch i64 %".456", label %"case.1" [i64 0, label %"case.0"]
loop.17:
  %"i.17" = phi  i64 [%".405", %"then.4"], [%".447", %"done.18"]
  %".422" = icmp slt i64 %"i.17", %".408"
  br i1 %".422", label %"body.17", label %"done.17"
body.17:
  br label %"loop.18"
done.17:
  br label %"end.4"
loop.18:
  %"i.18" = phi  i64 [%".411", %"body.17"], [%".445", %"done.19"]
  %".425" = icmp slt i64 %"i.18", %".414"
  br i1 %".425", label %"body.18", label %"done.18"
body.18:
  br label %"loop.19"
done.18:
  %".447" = add i64 %"i.17", 1
  br label %"loop.17"
loop.19:
  %"i.19" = phi  i64 [%".417", %"body.18"], [%".443", %"body.19"]
  %".428" = icmp slt i64 %"i.19", %".420"
  br i1 %".428", label %"body.19", label %"done.19"
body.19:
  %".430" = add i64 %".384", %"i.17"
  %".431" = add i64 %".385", %"i.18"
  %".432" = add i64 %".387", %"i.19"
  %".433" = mul i64 %".430", 8
  %".434" = mul i64 %".431", 8
  %".435" = add i64 %".433", %".434"
  %".436" = add i64 %".435", %".432"
  %".437" = getelementptr inbounds float, ptr %".25", i64 %".436"
  %".438" = load float, ptr %".437", align 4
  %".439" = mul i64 %"i.18", 4
  %".440" = add i64 %".439", %"i.19"
  %".441" = getelementptr inbounds float, ptr %".398", i64 %".440"
  store float %".438", ptr %".441", align 4
  %".443" = add i64 %"i.19", 1
  br label %"loop.19"
done.19:
  %".445" = add i64 %"i.18", 1
  br label %"loop.18"
switch.done:
  %".505" = mul i32 %".34", 4
  %".506" = add i32 %".505", 3
  %".507" = mul i32 %".35", 8
  %".508" = icmp sle i32 %".507", %".506"
  %".509" = zext i1 %".508" to i32
  %".510" = sext i32 %".509" to i64
  %".511" = icmp slt i64 %".510", 0
  %".512" = select  i1 %".511", i64 0, i64 %".510"
  switch i64 %".512", label %"case.1.1" [i64 0, label %"case.0.1"]
case.0:
  br label %"switch.done"
case.1:
  br label %"loop.20"
loop.20:
  %"i.20" = phi  i64 [0, %"case.1"], [%".484", %"body.20"]
  %".460" = icmp slt i64 %"i.20", 4
  br i1 %".460", label %"body.20", label %"done.20"
body.20:
  %".462" = getelementptr inbounds float, ptr %".115", i64 %"i.20"
  %".463" = getelementptr inbounds float, ptr %".115", i64 %"i.20"
  %".464" = load float, ptr %".463", align 4
  %".465" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".464", i32 0
  %".466" = add i64 4, %"i.20"
  %".467" = getelementptr inbounds float, ptr %".115", i64 %".466"
  %".468" = load float, ptr %".467", align 4
  %".469" = insertelement <4 x float> %".465", float %".468", i32 1
  %".470" = add i64 8, %"i.20"
  %".471" = getelementptr inbounds float, ptr %".115", i64 %".470"
  %".472" = load float, ptr %".471", align 4
  %".473" = insertelement <4 x float> %".469", float %".472", i32 2
  %".474" = add i64 12, %"i.20"
  %".475" = getelementptr inbounds float, ptr %".115", i64 %".474"
  %".476" = load float, ptr %".475", align 4
  %".477" = insertelement <4 x float> %".473", float %".476", i32 3
  %".478" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x3fe0000000000000, i32 0
  %".479" = shufflevector <4 x float> %".478", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".480" = fmul <4 x float> %".477", %".479"
  %".481" = mul i64 %"i.20", 4
  %".482" = getelementptr inbounds float, ptr %".26", i64 %".481"
  store <4 x float> %".480", ptr %".482", align 4
  %".484" = add i64 %"i.20", 1
  br label %"loop.20"
done.20:
  %".486" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc6293e5940000000, i32 0
  %".487" = shufflevector <4 x float> %".486", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".488" = getelementptr inbounds float, ptr %".27", i64 0
  store <4 x float> %".487", ptr %".488", align 4
  %".490" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".491" = shufflevector <4 x float> %".490", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".492" = getelementptr inbounds float, ptr %".28", i64 0
  store <4 x float> %".491", ptr %".492", align 4
  br label %"loop.21"
loop.21:
  %"i.21" = phi  i64 [0, %"done.20"], [%".502", %"body.21"]
  %".495" = icmp slt i64 %"i.21", 4
  br i1 %".495", label %"body.21", label %"done.21"
body.21:
  %".497" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".498" = shufflevector <4 x float> %".497", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".499" = mul i64 %"i.21", 4
  %".500" = getelementptr inbounds float, ptr %".29", i64 %".499"
  store <4 x float> %".498", ptr %".500", align 4
  %".502" = add i64 %"i.21", 1
  br label %"loop.21"
done.21:
  br label %"switch.done"
switch.done.1:
  %".820" = icmp eq i32 %".35", 1
  %".821" = zext i1 %".820" to i32
  %".822" = sext i32 %".821" to i64
  %".823" = icmp slt i64 %".822", 0
  %".824" = select  i1 %".823", i64 0, i64 %".822"
  switch i64 %".824", label %"case.1.2" [i64 0, label %"case.0.2"]
case.0.1:
  br label %"switch.done.1"
case.1.1:
  %".515" = getelementptr i8, ptr %".3", i64 704
  %".516" = getelementptr i8, ptr %".3", i64 832
  br label %"loop.22"
loop.22:
  %"i.22" = phi  i64 [0, %"case.1.1"], [%".624", %"k.done"]
  %".518" = icmp slt i64 %"i.22", 4
  br i1 %".518", label %"body.22", label %"done.22"
body.22:
  br label %"k"
done.22:
  %".626" = getelementptr i8, ptr %".3", i64 1344
  %".627" = getelementptr i8, ptr %".3", i64 1408
  store <4 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <4 x float>* %".628"
  br label %"loop.23"
k:
  %".521" = phi  i64 [0, %"body.22"], [%".591", %"k.body"]
  %".522" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".548", %"k.body"]
  %".523" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".554", %"k.body"]
  %".524" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".560", %"k.body"]
  %".525" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".566", %"k.body"]
  %".526" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".572", %"k.body"]
  %".527" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".578", %"k.body"]
  %".528" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".584", %"k.body"]
  %".529" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".590", %"k.body"]
  %".530" = icmp slt i64 %".521", 4
  br i1 %".530", label %"k.body", label %"k.done"
k.body:
  %".532" = add i64 %".521", 32
  %".533" = icmp slt i64 %".532", 3
  %".534" = select  i1 %".533", i64 %".532", i64 3
  %".535" = mul i64 %".534", 4
  %".536" = add i64 %".535", %"i.22"
  %".537" = getelementptr inbounds float, ptr %".26", i64 %".536"
  call void @"llvm.prefetch.p0"(ptr %".537", i32 0, i32 3, i32 1)
  %".539" = mul i64 %".521", 4
  %".540" = add i64 %".539", %"i.22"
  %".541" = getelementptr inbounds float, ptr %".26", i64 %".540"
  %".542" = load <4 x float>, ptr %".541", align 4
  %".543" = shufflevector <4 x float> %".542", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".544" = getelementptr inbounds float, ptr %".209", i64 %".521"
  %".545" = load float, ptr %".544", align 4
  %".546" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".545", i32 0
  %".547" = shufflevector <16 x float> %".546", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".548" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".547", <16 x float> %".543", <16 x float> %".522")
  %".549" = add i64 4, %".521"
  %".550" = getelementptr inbounds float, ptr %".209", i64 %".549"
  %".551" = load float, ptr %".550", align 4
  %".552" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".551", i32 0
  %".553" = shufflevector <16 x float> %".552", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".554" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".553", <16 x float> %".543", <16 x float> %".523")
  %".555" = add i64 8, %".521"
  %".556" = getelementptr inbounds float, ptr %".209", i64 %".555"
  %".557" = load float, ptr %".556", align 4
  %".558" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".557", i32 0
  %".559" = shufflevector <16 x float> %".558", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".560" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".559", <16 x float> %".543", <16 x float> %".524")
  %".561" = add i64 12, %".521"
  %".562" = getelementptr inbounds float, ptr %".209", i64 %".561"
  %".563" = load float, ptr %".562", align 4
  %".564" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".563", i32 0
  %".565" = shufflevector <16 x float> %".564", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".566" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".565", <16 x float> %".543", <16 x float> %".525")
  %".567" = add i64 16, %".521"
  %".568" = getelementptr inbounds float, ptr %".209", i64 %".567"
  %".569" = load float, ptr %".568", align 4
  %".570" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".569", i32 0
  %".571" = shufflevector <16 x float> %".570", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".572" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".571", <16 x float> %".543", <16 x float> %".526")
  %".573" = add i64 20, %".521"
  %".574" = getelementptr inbounds float, ptr %".209", i64 %".573"
  %".575" = load float, ptr %".574", align 4
  %".576" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".575", i32 0
  %".577" = shufflevector <16 x float> %".576", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".578" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".577", <16 x float> %".543", <16 x float> %".527")
  %".579" = add i64 24, %".521"
  %".580" = getelementptr inbounds float, ptr %".209", i64 %".579"
  %".581" = load float, ptr %".580", align 4
  %".582" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".581", i32 0
  %".583" = shufflevector <16 x float> %".582", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".584" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".583", <16 x float> %".543", <16 x float> %".528")
  %".585" = add i64 28, %".521"
  %".586" = getelementptr inbounds float, ptr %".209", i64 %".585"
  %".587" = load float, ptr %".586", align 4
  %".588" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".587", i32 0
  %".589" = shufflevector <16 x float> %".588", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".590" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".589", <16 x float> %".543", <16 x float> %".529")
  %".591" = add i64 %".521", 1
  br label %"k"
k.done:
  %".593" = shufflevector <16 x float> %".522", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".594" = getelementptr inbounds float, ptr %".515", i64 %"i.22"
  store <4 x float> %".593", ptr %".594", align 4
  %".596" = shufflevector <16 x float> %".523", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".597" = add i64 4, %"i.22"
  %".598" = getelementptr inbounds float, ptr %".515", i64 %".597"
  store <4 x float> %".596", ptr %".598", align 4
  %".600" = shufflevector <16 x float> %".524", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".601" = add i64 8, %"i.22"
  %".602" = getelementptr inbounds float, ptr %".515", i64 %".601"
  store <4 x float> %".600", ptr %".602", align 4
  %".604" = shufflevector <16 x float> %".525", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".605" = add i64 12, %"i.22"
  %".606" = getelementptr inbounds float, ptr %".515", i64 %".605"
  store <4 x float> %".604", ptr %".606", align 4
  %".608" = shufflevector <16 x float> %".526", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".609" = add i64 16, %"i.22"
  %".610" = getelementptr inbounds float, ptr %".515", i64 %".609"
  store <4 x float> %".608", ptr %".610", align 4
  %".612" = shufflevector <16 x float> %".527", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".613" = add i64 20, %"i.22"
  %".614" = getelementptr inbounds float, ptr %".515", i64 %".613"
  store <4 x float> %".612", ptr %".614", align 4
  %".616" = shufflevector <16 x float> %".528", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".617" = add i64 24, %"i.22"
  %".618" = getelementptr inbounds float, ptr %".515", i64 %".617"
  store <4 x float> %".616", ptr %".618", align 4
  %".620" = shufflevector <16 x float> %".529", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".621" = add i64 28, %"i.22"
  %".622" = getelementptr inbounds float, ptr %".515", i64 %".621"
  store <4 x float> %".620", ptr %".622", align 4
  %".624" = add i64 %"i.22", 4
  br label %"loop.22"
loop.23:
  %"i.23" = phi  i64 [0, %"done.22"], [%".663", %"body.23"]
  %".631" = icmp slt i64 %"i.23", 8
  br i1 %".631", label %"body.23", label %"done.23"
body.23:
  %".633" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".507", i32 0
  %".634" = shufflevector <4 x i32> %".633", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".635" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 %"i.23", i32 0
  %".636" = shufflevector <4 x i64> %".635", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".637" = add <4 x i64> %".636", <i64 0, i64 0, i64 0, i64 0>
  %".638" = trunc <4 x i64> %".637" to <4 x i32>
  %".639" = add <4 x i32> %".634", %".638"
  %".640" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".505", i32 0
  %".641" = shufflevector <4 x i32> %".640", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".642" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 0, i32 0
  %".643" = shufflevector <4 x i64> %".642", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".644" = add <4 x i64> %".643", <i64 0, i64 1, i64 2, i64 3>
  %".645" = trunc <4 x i64> %".644" to <4 x i32>
  %".646" = add <4 x i32> %".641", %".645"
  %".647" = icmp sle <4 x i32> %".639", %".646"
  %".648" = mul i64 %"i.23", 4
  %".649" = getelementptr inbounds float, ptr %".515", i64 %".648"
  %".650" = load <4 x float>, ptr %".649", align 4
  %".651" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc6293e5940000000, i32 0
  %".652" = shufflevector <4 x float> %".651", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".653" = select  <4 x i1> %".647", <4 x float> %".650", <4 x float> %".652"
  %".654" = mul i64 %"i.23", 4
  %".655" = getelementptr inbounds float, ptr %".627", i64 %".654"
  store <4 x float> %".653", ptr %".655", align 4
  %".657" = load <4 x float>, <4 x float>* %".628"
  %".658" = fcmp ogt <4 x float> %".657", %".653"
  %".659" = select  <4 x i1> %".658", <4 x float> %".657", <4 x float> %".653"
  %".660" = fcmp uno <4 x float> %".657", %".657"
  %".661" = select  <4 x i1> %".660", <4 x float> %".657", <4 x float> %".659"
  store <4 x float> %".661", <4 x float>* %".628"
  %".663" = add i64 %"i.23", 1
  br label %"loop.23"
done.23:
  %".665" = load <4 x float>, <4 x float>* %".628"
  %".666" = getelementptr inbounds float, ptr %".626", i64 0
  store <4 x float> %".665", ptr %".666", align 4
  %".668" = getelementptr i8, ptr %".3", i64 1536
  %".669" = getelementptr inbounds float, ptr %".27", i64 0
  %".670" = load <4 x float>, ptr %".669", align 4
  %".671" = getelementptr inbounds float, ptr %".626", i64 0
  %".672" = load <4 x float>, ptr %".671", align 4
  %".673" = fcmp ogt <4 x float> %".670", %".672"
  %".674" = select  <4 x i1> %".673", <4 x float> %".670", <4 x float> %".672"
  %".675" = fcmp uno <4 x float> %".670", %".670"
  %".676" = select  <4 x i1> %".675", <4 x float> %".670", <4 x float> %".674"
  %".677" = getelementptr inbounds float, ptr %".668", i64 0
  store <4 x float> %".676", ptr %".677", align 4
  %".679" = getelementptr i8, ptr %".3", i64 1600
  %".680" = getelementptr inbounds float, ptr %".27", i64 0
  %".681" = load <4 x float>, ptr %".680", align 4
  %".682" = getelementptr inbounds float, ptr %".668", i64 0
  %".683" = load <4 x float>, ptr %".682", align 4
  %".684" = fsub <4 x float> %".681", %".683"
  %".685" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".684")
  %".686" = getelementptr inbounds float, ptr %".679", i64 0
  store <4 x float> %".685", ptr %".686", align 4
  %".688" = getelementptr i8, ptr %".3", i64 1664
  %".689" = getelementptr i8, ptr %".3", i64 1728
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".690"
  br label %"loop.24"
loop.24:
  %"i.24" = phi  i64 [0, %"done.23"], [%".708", %"body.24"]
  %".693" = icmp slt i64 %"i.24", 8
  br i1 %".693", label %"body.24", label %"done.24"
body.24:
  %".695" = mul i64 %"i.24", 4
  %".696" = getelementptr inbounds float, ptr %".627", i64 %".695"
  %".697" = load <4 x float>, ptr %".696", align 4
  %".698" = getelementptr inbounds float, ptr %".668", i64 0
  %".699" = load <4 x float>, ptr %".698", align 4
  %".700" = fsub <4 x float> %".697", %".699"
  %".701" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".700")
  %".702" = mul i64 %"i.24", 4
  %".703" = getelementptr inbounds float, ptr %".689", i64 %".702"
  store <4 x float> %".701", ptr %".703", align 4
  %".705" = load <4 x float>, <4 x float>* %".690"
  %".706" = fadd <4 x float> %".705", %".701"
  store <4 x float> %".706", <4 x float>* %".690"
  %".708" = add i64 %"i.24", 1
  br label %"loop.24"
done.24:
  %".710" = load <4 x float>, <4 x float>* %".690"
  %".711" = getelementptr inbounds float, ptr %".688", i64 0
  store <4 x float> %".710", ptr %".711", align 4
  %".713" = getelementptr inbounds float, ptr %".28", i64 0
  %".714" = load <4 x float>, ptr %".713", align 4
  %".715" = getelementptr inbounds float, ptr %".679", i64 0
  %".716" = load <4 x float>, ptr %".715", align 4
  %".717" = fmul <4 x float> %".714", %".716"
  %".718" = getelementptr inbounds float, ptr %".688", i64 0
  %".719" = load <4 x float>, ptr %".718", align 4
  %".720" = fadd <4 x float> %".717", %".719"
  %".721" = getelementptr inbounds float, ptr %".28", i64 0
  store <4 x float> %".720", ptr %".721", align 4
  br label %"loop.25"
loop.25:
  %"i.25" = phi  i64 [0, %"done.24"], [%".735", %"body.25"]
  %".724" = icmp slt i64 %"i.25", 4
  br i1 %".724", label %"body.25", label %"done.25"
body.25:
  %".726" = mul i64 %"i.25", 4
  %".727" = getelementptr inbounds float, ptr %".29", i64 %".726"
  %".728" = load <4 x float>, ptr %".727", align 4
  %".729" = getelementptr inbounds float, ptr %".679", i64 0
  %".730" = load <4 x float>, ptr %".729", align 4
  %".731" = fmul <4 x float> %".728", %".730"
  %".732" = mul i64 %"i.25", 4
  %".733" = getelementptr inbounds float, ptr %".29", i64 %".732"
  store <4 x float> %".731", ptr %".733", align 4
  %".735" = add i64 %"i.25", 1
  br label %"loop.25"
done.25:
  %".737" = getelementptr i8, ptr %".3", i64 1856
  br label %"loop.26"
loop.26:
  %"i.26" = phi  i64 [0, %"done.25"], [%".813", %"k.done.1"]
  %".739" = icmp slt i64 %"i.26", 4
  br i1 %".739", label %"body.26", label %"done.26"
body.26:
  %".741" = getelementptr inbounds float, ptr %".29", i64 %"i.26"
  %".742" = load <4 x float>, ptr %".741", align 4
  %".743" = shufflevector <4 x float> %".742", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".744" = add i64 4, %"i.26"
  %".745" = getelementptr inbounds float, ptr %".29", i64 %".744"
  %".746" = load <4 x float>, ptr %".745", align 4
  %".747" = shufflevector <4 x float> %".746", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".748" = add i64 8, %"i.26"
  %".749" = getelementptr inbounds float, ptr %".29", i64 %".748"
  %".750" = load <4 x float>, ptr %".749", align 4
  %".751" = shufflevector <4 x float> %".750", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".752" = add i64 12, %"i.26"
  %".753" = getelementptr inbounds float, ptr %".29", i64 %".752"
  %".754" = load <4 x float>, ptr %".753", align 4
  %".755" = shufflevector <4 x float> %".754", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  br label %"k.1"
done.26:
  %".815" = getelementptr inbounds float, ptr %".668", i64 0
  %".816" = load <4 x float>, ptr %".815", align 4
  %".817" = getelementptr inbounds float, ptr %".27", i64 0
  store <4 x float> %".816", ptr %".817", align 4
  br label %"switch.done.1"
k.1:
  %".757" = phi  i64 [0, %"body.26"], [%".796", %"k.body.1"]
  %".758" = phi  <16 x float> [%".743", %"body.26"], [%".774", %"k.body.1"]
  %".759" = phi  <16 x float> [%".747", %"body.26"], [%".781", %"k.body.1"]
  %".760" = phi  <16 x float> [%".751", %"body.26"], [%".788", %"k.body.1"]
  %".761" = phi  <16 x float> [%".755", %"body.26"], [%".795", %"k.body.1"]
  %".762" = icmp slt i64 %".757", 8
  br i1 %".762", label %"k.body.1", label %"k.done.1"
k.body.1:
  %".764" = mul i64 %".757", 4
  %".765" = add i64 %".764", %"i.26"
  %".766" = getelementptr inbounds float, ptr %".689", i64 %".765"
  %".767" = load <4 x float>, ptr %".766", align 4
  %".768" = shufflevector <4 x float> %".767", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".769" = mul i64 %".757", 4
  %".770" = getelementptr inbounds float, ptr %".303", i64 %".769"
  %".771" = load float, ptr %".770", align 4
  %".772" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".771", i32 0
  %".773" = shufflevector <16 x float> %".772", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".774" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".773", <16 x float> %".768", <16 x float> %".758")
  %".775" = mul i64 %".757", 4
  %".776" = add i64 %".775", 1
  %".777" = getelementptr inbounds float, ptr %".303", i64 %".776"
  %".778" = load float, ptr %".777", align 4
  %".779" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".778", i32 0
  %".780" = shufflevector <16 x float> %".779", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".781" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".780", <16 x float> %".768", <16 x float> %".759")
  %".782" = mul i64 %".757", 4
  %".783" = add i64 %".782", 2
  %".784" = getelementptr inbounds float, ptr %".303", i64 %".783"
  %".785" = load float, ptr %".784", align 4
  %".786" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".785", i32 0
  %".787" = shufflevector <16 x float> %".786", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".788" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".787", <16 x float> %".768", <16 x float> %".760")
  %".789" = mul i64 %".757", 4
  %".790" = add i64 %".789", 3
  %".791" = getelementptr inbounds float, ptr %".303", i64 %".790"
  %".792" = load float, ptr %".791", align 4
  %".793" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".792", i32 0
  %".794" = shufflevector <16 x float> %".793", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".795" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".794", <16 x float> %".768", <16 x float> %".761")
  %".796" = add i64 %".757", 1
  br label %"k.1"
k.done.1:
  %".798" = shufflevector <16 x float> %".758", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".799" = getelementptr inbounds float, ptr %".29", i64 %"i.26"
  store <4 x float> %".798", ptr %".799", align 4
  %".801" = shufflevector <16 x float> %".759", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".802" = add i64 4, %"i.26"
  %".803" = getelementptr inbounds float, ptr %".29", i64 %".802"
  store <4 x float> %".801", ptr %".803", align 4
  %".805" = shufflevector <16 x float> %".760", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".806" = add i64 8, %"i.26"
  %".807" = getelementptr inbounds float, ptr %".29", i64 %".806"
  store <4 x float> %".805", ptr %".807", align 4
  %".809" = shufflevector <16 x float> %".761", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".810" = add i64 12, %"i.26"
  %".811" = getelementptr inbounds float, ptr %".29", i64 %".810"
  store <4 x float> %".809", ptr %".811", align 4
  %".813" = add i64 %"i.26", 4
  br label %"loop.26"
switch.done.2:
  br i1 %".323", label %"then.5", label %"end.5"
case.0.2:
  br label %"switch.done.2"
case.1.2:
  %".827" = getelementptr i8, ptr %".3", i64 2880
  %".828" = getelementptr inbounds float, ptr %".27", i64 0
  %".829" = load <4 x float>, ptr %".828", align 4
  %".830" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc6193e5940000000, i32 0
  %".831" = shufflevector <4 x float> %".830", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".832" = fcmp ogt <4 x float> %".829", %".831"
  %".833" = getelementptr inbounds i8, ptr %".827", i64 0
  %".834" = zext <4 x i1> %".832" to <4 x i8>
  store <4 x i8> %".834", ptr %".833", align 1
  br label %"loop.27"
loop.27:
  %"i.27" = phi  i64 [0, %"case.1.2"], [%".868", %"body.27"]
  %".837" = icmp slt i64 %"i.27", 4
  br i1 %".837", label %"body.27", label %"done.27"
body.27:
  %".839" = getelementptr inbounds i8, ptr %".827", i64 %"i.27"
  %".840" = load i8, ptr %".839", align 1
  %".841" = icmp ne i8 %".840", 0
  %".842" = getelementptr inbounds float, ptr %".28", i64 %"i.27"
  %".843" = load float, ptr %".842", align 4
  %".844" = fdiv float 0x3ff0000000000000, %".843"
  %".845" = select  i1 %".841", float %".844", float              0x0
  %".846" = getelementptr inbounds float, ptr %".29", i64 %"i.27"
  %".847" = getelementptr inbounds float, ptr %".29", i64 %"i.27"
  %".848" = load float, ptr %".847", align 4
  %".849" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".848", i32 0
  %".850" = add i64 4, %"i.27"
  %".851" = getelementptr inbounds float, ptr %".29", i64 %".850"
  %".852" = load float, ptr %".851", align 4
  %".853" = insertelement <4 x float> %".849", float %".852", i32 1
  %".854" = add i64 8, %"i.27"
  %".855" = getelementptr inbounds float, ptr %".29", i64 %".854"
  %".856" = load float, ptr %".855", align 4
  %".857" = insertelement <4 x float> %".853", float %".856", i32 2
  %".858" = add i64 12, %"i.27"
  %".859" = getelementptr inbounds float, ptr %".29", i64 %".858"
  %".860" = load float, ptr %".859", align 4
  %".861" = insertelement <4 x float> %".857", float %".860", i32 3
  %".862" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".845", i32 0
  %".863" = shufflevector <4 x float> %".862", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".864" = fmul <4 x float> %".861", %".863"
  %".865" = mul i64 %"i.27", 4
  %".866" = getelementptr inbounds float, ptr %".380", i64 %".865"
  store <4 x float> %".864", ptr %".866", align 4
  %".868" = add i64 %"i.27", 1
  br label %"loop.27"
done.27:
  %".870" = getelementptr inbounds i8, ptr %".827", i64 0
  %".871" = load <4 x i8>, ptr %".870", align 1
  %".872" = icmp ne <4 x i8> %".871", <i8 0, i8 0, i8 0, i8 0>
  %".873" = getelementptr inbounds float, ptr %".27", i64 0
  %".874" = load <4 x float>, ptr %".873", align 4
  %".875" = getelementptr inbounds float, ptr %".28", i64 0
  %".876" = load <4 x float>, ptr %".875", align 4
  %".877" = call <4 x float> @"tilewright.log.v4f32"(<4 x float> %".876")
  %".878" = fadd <4 x float> %".874", %".877"
  %".879" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x46293e5940000000, i32 0
  %".880" = shufflevector <4 x float> %".879", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".881" = select  <4 x i1> %".872", <4 x float> %".878", <4 x float> %".880"
  %".882" = getelementptr inbounds float, ptr %".450", i64 0
  store <4 x float> %".881", ptr %".882", align 4
  br label %"switch.done.2"
then.5:
  %".886" = icmp slt i64 %".307", 0
  %".887" = sub i64 0, %".307"
  %".888" = select  i1 %".886", i64 %".887", i64 0
  %".889" = sub i64 1, %".307"
  %".890" = icmp slt i64 %".889", 1
  %".891" = select  i1 %".890", i64 %".889", i64 1
  %".892" = icmp slt i64 %".310", 0
  %".893" = sub i64 0, %".310"
  %".894" = select  i1 %".892", i64 %".893", i64 0
  %".895" = sub i64 8, %".310"
  %".896" = icmp slt i64 %".895", 4
  %".897" = select  i1 %".896", i64 %".895", i64 4
  %".898" = icmp slt i64 %".311", 0
  %".899" = sub i64 0, %".311"
  %".900" = select  i1 %".898", i64 %".899", i64 0
  %".901" = sub i64 4, %".311"
  %".902" = icmp slt i64 %".901", 4
  %".903" = select  i1 %".902", i64 %".901", i64 4
  br label %"loop.28"
end.5:
  br i1 %".399", label %"then.6", label %"end.6"
loop.28:
  %"i.28" = phi  i64 [%".888", %"then.5"], [%".930", %"done.29"]
  %".905" = icmp slt i64 %"i.28", %".891"
  br i1 %".905", label %"body.28", label %"done.28"
body.28:
  br label %"loop.29"
done.28:
  br label %"end.5"
loop.29:
  %"i.29" = phi  i64 [%".894", %"body.28"], [%".928", %"done.30"]
  %".908" = icmp slt i64 %"i.29", %".897"
  br i1 %".908", label %"body.29", label %"done.29"
body.29:
  br label %"loop.30"
done.29:
  %".930" = add i64 %"i.28", 1
  br label %"loop.28"
loop.30:
  %"i.30" = phi  i64 [%".900", %"body.29"], [%".926", %"body.30"]
  %".911" = icmp slt i64 %"i.30", %".903"
  br i1 %".911", label %"body.30", label %"done.30"
body.30:
  %".913" = add i64 %".307", %"i.28"
  %".914" = add i64 %".310", %"i.29"
  %".915" = add i64 %".311", %"i.30"
  %".916" = mul i64 %"i.29", 4
  %".917" = add i64 %".916", %"i.30"
  %".918" = getelementptr inbounds float, ptr %".322", i64 %".917"
  %".919" = load float, ptr %".918", align 4
  %".920" = mul i64 %".913", 32
  %".921" = mul i64 %".914", 4
  %".922" = add i64 %".920", %".921"
  %".923" = add i64 %".922", %".915"
  %".924" = getelementptr inbounds float, ptr %".23", i64 %".923"
  store float %".919", ptr %".924", align 4
  %".926" = add i64 %"i.30", 1
  br label %"loop.30"
done.30:
  %".928" = add i64 %"i.29", 1
  br label %"loop.29"
then.6:
  %".934" = icmp slt i64 %".384", 0
  %".935" = sub i64 0, %".384"
  %".936" = select  i1 %".934", i64 %".935", i64 0
  %".937" = sub i64 1, %".384"
  %".938" = icmp slt i64 %".937", 1
  %".939" = select  i1 %".938", i64 %".937", i64 1
  %".940" = icmp slt i64 %".385", 0
  %".941" = sub i64 0, %".385"
  %".942" = select  i1 %".940", i64 %".941", i64 0
  %".943" = sub i64 1, %".385"
  %".944" = icmp slt i64 %".943", 1
  %".945" = select  i1 %".944", i64 %".943", i64 1
  %".946" = icmp slt i64 %".387", 0
  %".947" = sub i64 0, %".387"
  %".948" = select  i1 %".946", i64 %".947", i64 0
  %".949" = sub i64 8, %".387"
  %".950" = icmp slt i64 %".949", 4
  %".951" = select  i1 %".950", i64 %".949", i64 4
  br label %"loop.31"
end.6:
  %".981" = add i64 %"i", 1
  br label %"loop"
loop.31:
  %"i.31" = phi  i64 [%".936", %"then.6"], [%".978", %"done.32"]
  %".953" = icmp slt i64 %"i.31", %".939"
  br i1 %".953", label %"body.31", label %"done.31"
body.31:
  br label %"loop.32"
done.31:
  br label %"end.6"
loop.32:
  %"i.32" = phi  i64 [%".942", %"body.31"], [%".976", %"done.33"]
  %".956" = icmp slt i64 %"i.32", %".945"
  br i1 %".956", label %"body.32", label %"done.32"
body.32:
  br label %"loop.33"
done.32:
  %".978" = add i64 %"i.31", 1
  br label %"loop.31"
loop.33:
  %"i.33" = phi  i64 [%".948", %"body.32"], [%".974", %"body.33"]
  %".959" = icmp slt i64 %"i.33", %".951"
  br i1 %".959", label %"body.33", label %"done.33"
body.33:
  %".961" = add i64 %".384", %"i.31"
  %".962" = add i64 %".385", %"i.32"
  %".963" = add i64 %".387", %"i.33"
  %".964" = mul i64 %"i.32", 4
  %".965" = add i64 %".964", %"i.33"
  %".966" = getelementptr inbounds float, ptr %".398", i64 %".965"
  %".967" = load float, ptr %".966", align 4
  %".968" = mul i64 %".961", 8
  %".969" = mul i64 %".962", 8
  %".970" = add i64 %".968", %".969"
  %".971" = add i64 %".970", %".963"
  %".972" = getelementptr inbounds float, ptr %".25", i64 %".971"
  store float %".967", ptr %".972", align 4
  %".974" = add i64 %"i.33", 1
  br label %"loop.33"
done.33:
  %".976" = add i64 %"i.32", 1
  br label %"loop.32"
}
