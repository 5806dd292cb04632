; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".629" = alloca <4 x float>
  %".691" = alloca <4 x float>
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
  %"i" = phi  i64 [0, %"start"], [%".982", %"end.6"]
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
  %".45" = sext i32 0 to i64
  %".46" = mul i64 %".44", 4
  %".47" = mul i64 %".45", 4
  %".48" = icmp ule i64 %".43", 0
  %".49" = icmp ule i64 %".46", 4
  %".50" = icmp ule i64 %".47", 0
  %".51" = and i1 %".48", %".49"
  %".52" = and i1 %".51", %".50"
  %".53" = mul i64 %".43", 32
  %".54" = mul i64 %".46", 4
  %".55" = add i64 %".53", %".54"
  %".56" = add i64 %".55", %".47"
  %".57" = getelementptr float, ptr %".18", i64 %".56"
  %".58" = getelementptr i8, ptr %".3", i64 256
  %".59" = xor i1 %".52", -1
  br i1 %".59", label %"then", label %"end"
done:
  ret void
then:
  br label %"loop.1"
end:
  %".116" = select  i1 %".52", ptr %".57", ptr %".58"
  %".117" = trunc i64 %".15" to i32
  %".118" = trunc i64 %".13" to i32
  %".119" = trunc i64 %"i" to i32
  %".120" = icmp sgt i32 %".117", 0
  %".121" = icmp slt i32 %".117", 0
  %".122" = select  i1 %".121", i32 4294967295, i32 0
  %".123" = select  i1 %".120", i32 1, i32 %".122"
  %".124" = icmp ne i32 %".123", 1
  %".125" = icmp eq i32 1, 0
  %".126" = icmp eq i32 %".117", 2147483648
  %".127" = icmp eq i32 1, 4294967295
  %".128" = and i1 %".126", %".127"
  %".129" = or i1 %".125", %".128"
  %".130" = select  i1 %".129", i32 1, i32 1
  %".131" = srem i32 %".117", %".130"
  %".132" = select  i1 %".125", i32 %".117", i32 %".131"
  %".133" = icmp ne i32 %".132", 0
  %".134" = and i1 %".124", %".133"
  %".135" = sub i32 %".117", 1
  %".136" = select  i1 %".134", i32 %".135", i32 %".117"
  %".137" = sext i32 %".136" to i64
  %".138" = sext i32 %".119" to i64
  %".139" = sext i32 0 to i64
  %".140" = mul i64 %".138", 8
  %".141" = mul i64 %".139", 4
  %".142" = icmp ule i64 %".137", 0
  %".143" = icmp ule i64 %".140", 8
  %".144" = icmp ule i64 %".141", 0
  %".145" = and i1 %".142", %".143"
  %".146" = and i1 %".145", %".144"
  %".147" = mul i64 %".137", 64
  %".148" = mul i64 %".140", 4
  %".149" = add i64 %".147", %".148"
  %".150" = add i64 %".149", %".141"
  %".151" = getelementptr float, ptr %".20", i64 %".150"
  %".152" = getelementptr i8, ptr %".3", i64 320
  %".153" = xor i1 %".146", -1
  br i1 %".153", label %"then.1", label %"end.1"
loop.1:
  %"i.1" = phi  i64 [0, %"then"], [%".67", %"body.1"]
  %".62" = icmp slt i64 %"i.1", 4
  br i1 %".62", label %"body.1", label %"done.1"
body.1:
  %".64" = mul i64 %"i.1", 4
  %".65" = getelementptr inbounds float, ptr %".58", i64 %".64"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".65", align 4
  %".67" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  %".69" = icmp slt i64 %".43", 0
  %".70" = sub i64 0, %".43"
  %".71" = select  i1 %".69", i64 %".70", i64 0
  %".72" = sub i64 1, %".43"
  %".73" = icmp slt i64 %".72", 1
  %".74" = select  i1 %".73", i64 %".72", i64 1
  %".75" = icmp slt i64 %".46", 0
  %".76" = sub i64 0, %".46"
  %".77" = select  i1 %".75", i64 %".76", i64 0
  %".78" = sub i64 8, %".46"
  %".79" = icmp slt i64 %".78", 4
  %".80" = select  i1 %".79", i64 %".78", i64 4
  %".81" = icmp slt i64 %".47", 0
  %".82" = sub i64 0, %".47"
  %".83" = select  i1 %".81", i64 %".82", i64 0
  %".84" = sub i64 4, %".47"
  %".85" = icmp slt i64 %".84", 4
  %".86" = select  i1 %".85", i64 %".84", i64 4
  br label %"loop.2"
loop.2:
  %"i.2" = phi  i64 [%".71", %"done.1"], [%".113", %"done.3"]
  %".88" = icmp slt i64 %"i.2", %".74"
  br i1 %".88", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".77", %"body.2"], [%".111", %"done.4"]
  %".91" = icmp slt i64 %"i.3", %".80"
  br i1 %".91", label %"body.3", label %"done.3"
body.3:
  br label %"loop.4"
done.3:
  %".113" = add i64 %"i.2", 1
  br label %"loop.2"
loop.4:
  %"i.4" = phi  i64 [%".83", %"body.3"], [%".109", %"body.4"]
  %".94" = icmp slt i64 %"i.4", %".86"
  br i1 %".94", label %"body.4", label %"done.4"
body.4:
  %".96" = add i64 %".43", %"i.2"
  %".97" = add i64 %".46", %"i.3"
  %".98" = add i64 %".47", %"i.4"
  %".99" = mul i64 %".96", 32
  %".100" = mul i64 %".97", 4
  %".101" = add i64 %".99", %".100"
  %".102" = add i64 %".101", %".98"
  %".103" = getelementptr inbounds float, ptr %".18", i64 %".102"
  %".104" = load float, ptr %".103", align 4
  %".105" = mul i64 %"i.3", 4
  %".106" = add i64 %".105", %"i.4"
  %".107" = getelementptr inbounds float, ptr %".58", i64 %".106"
  store float %".104", ptr %".107", align 4
  %".109" = add i64 %"i.4", 1
  br label %"loop.4"
done.4:
  %".111" = add i64 %"i.3", 1
  br label %"loop.3"
then.1:
  br label %"loop.5"
end.1:
  %".210" = select  i1 %".146", ptr %".151", ptr %".152"
  %".211" = trunc i64 %".15" to i32
  %".212" = trunc i64 %".13" to i32
  %".213" = trunc i64 %"i" to i32
  %".214" = icmp sgt i32 %".211", 0
  %".215" = icmp slt i32 %".211", 0
  %".216" = select  i1 %".215", i32 4294967295, i32 0
  %".217" = select  i1 %".214", i32 1, i32 %".216"
  %".218" = icmp ne i32 %".217", 1
  %".219" = icmp eq i32 1, 0
  %".220" = icmp eq i32 %".211", 2147483648
  %".221" = icmp eq i32 1, 4294967295
  %".222" = and i1 %".220", %".221"
  %".223" = or i1 %".219", %".222"
  %".224" = select  i1 %".223", i32 1, i32 1
  %".225" = srem i32 %".211", %".224"
  %".226" = select  i1 %".219", i32 %".211", i32 %".225"
  %".227" = icmp ne i32 %".226", 0
  %".228" = and i1 %".218", %".227"
  %".229" = sub i32 %".211", 1
  %".230" = select  i1 %".228", i32 %".229", i32 %".211"
  %".231" = sext i32 %".230" to i64
  %".232" = sext i32 %".213" to i64
  %".233" = sext i32 0 to i64
  %".234" = mul i64 %".232", 8
  %".235" = mul i64 %".233", 4
  %".236" = icmp ule i64 %".231", 0
  %".237" = icmp ule i64 %".234", 8
  %".238" = icmp ule i64 %".235", 0
  %".239" = and i1 %".236", %".237"
  %".240" = and i1 %".239", %".238"
  %".241" = mul i64 %".231", 64
  %".242" = mul i64 %".234", 4
  %".243" = add i64 %".241", %".242"
  %".244" = add i64 %".243", %".235"
  %".245" = getelementptr float, ptr %".22", i64 %".244"
  %".246" = getelementptr i8, ptr %".3", i64 448
  %".247" = xor i1 %".240", -1
  br i1 %".247", label %"then.2", label %"end.2"
loop.5:
  %"i.5" = phi  i64 [0, %"then.1"], [%".161", %"body.5"]
  %".156" = icmp slt i64 %"i.5", 8
  br i1 %".156", label %"body.5", label %"done.5"
body.5:
  %".158" = mul i64 %"i.5", 4
  %".159" = getelementptr inbounds float, ptr %".152", i64 %".158"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".159", align 4
  %".161" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  %".163" = icmp slt i64 %".137", 0
  %".164" = sub i64 0, %".137"
  %".165" = select  i1 %".163", i64 %".164", i64 0
  %".166" = sub i64 1, %".137"
  %".167" = icmp slt i64 %".166", 1
  %".168" = select  i1 %".167", i64 %".166", i64 1
  %".169" = icmp slt i64 %".140", 0
  %".170" = sub i64 0, %".140"
  %".171" = select  i1 %".169", i64 %".170", i64 0
  %".172" = sub i64 16, %".140"
  %".173" = icmp slt i64 %".172", 8
  %".174" = select  i1 %".173", i64 %".172", i64 8
  %".175" = icmp slt i64 %".141", 0
  %".176" = sub i64 0, %".141"
  %".177" = select  i1 %".175", i64 %".176", i64 0
  %".178" = sub i64 4, %".141"
  %".179" = icmp slt i64 %".178", 4
  %".180" = select  i1 %".179", i64 %".178", i64 4
  br label %"loop.6"
loop.6:
  %"i.6" = phi  i64 [%".165", %"done.5"], [%".207", %"done.7"]
  %".182" = icmp slt i64 %"i.6", %".168"
  br i1 %".182", label %"body.6", label %"done.6"
body.6:
  br label %"loop.7"
done.6:
  br label %"end.1"
loop.7:
  %"i.7" = phi  i64 [%".171", %"body.6"], [%".205", %"done.8"]
  %".185" = icmp slt i64 %"i.7", %".174"
  br i1 %".185", label %"body.7", label %"done.7"
body.7:
  br label %"loop.8"
done.7:
  %".207" = add i64 %"i.6", 1
  br label %"loop.6"
loop.8:
  %"i.8" = phi  i64 [%".177", %"body.7"], [%".203", %"body.8"]
  %".188" = icmp slt i64 %"i.8", %".180"
  br i1 %".188", label %"body.8", label %"done.8"
body.8:
  %".190" = add i64 %".137", %"i.6"
  %".191" = add i64 %".140", %"i.7"
  %".192" = add i64 %".141", %"i.8"
  %".193" = mul i64 %".190", 64
  %".194" = mul i64 %".191", 4
  %".195" = add i64 %".193", %".194"
  %".196" = add i64 %".195", %".192"
  %".197" = getelementptr inbounds float, ptr %".20", i64 %".196"
  %".198" = load float, ptr %".197", align 4
  %".199" = mul i64 %"i.7", 4
  %".200" = add i64 %".199", %"i.8"
  %".201" = getelementptr inbounds float, ptr %".152", i64 %".200"
  store float %".198", ptr %".201", align 4
  %".203" = add i64 %"i.8", 1
  br label %"loop.8"
done.8:
  %".205" = add i64 %"i.7", 1
  br label %"loop.7"
then.2:
  br label %"loop.9"
end.2:
  %".304" = select  i1 %".240", ptr %".245", ptr %".246"
  %".305" = trunc i64 %".15" to i32
  %".306" = trunc i64 %".13" to i32
  %".307" = trunc i64 %"i" to i32
  %".308" = sext i32 %".305" to i64
  %".309" = sext i32 %".306" to i64
  %".310" = sext i32 0 to i64
  %".311" = mul i64 %".309", 4
  %".312" = mul i64 %".310", 4
  %".313" = icmp ule i64 %".308", 0
  %".314" = icmp ule i64 %".311", 4
  %".315" = icmp ule i64 %".312", 0
  %".316" = and i1 %".313", %".314"
  %".317" = and i1 %".316", %".315"
  %".318" = mul i64 %".308", 32
  %".319" = mul i64 %".311", 4
  %".320" = add i64 %".318", %".319"
  %".321" = add i64 %".320", %".312"
  %".322" = getelementptr float, ptr %".24", i64 %".321"
  %".323" = getelementptr i8, ptr %".3", i64 576
  %".324" = xor i1 %".317", -1
  br i1 %".324", label %"then.3", label %"end.3"
loop.9:
  %"i.9" = phi  i64 [0, %"then.2"], [%".255", %"body.9"]
  %".250" = icmp slt i64 %"i.9", 8
  br i1 %".250", label %"body.9", label %"done.9"
body.9:
  %".252" = mul i64 %"i.9", 4
  %".253" = getelementptr inbounds float, ptr %".246", i64 %".252"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".253", align 4
  %".255" = add i64 %"i.9", 1
  br label %"loop.9"
done.9:
  %".257" = icmp slt i64 %".231", 0
  %".258" = sub i64 0, %".231"
  %".259" = select  i1 %".257", i64 %".258", i64 0
  %".260" = sub i64 1, %".231"
  %".261" = icmp slt i64 %".260", 1
  %".262" = select  i1 %".261", i64 %".260", i64 1
  %".263" = icmp slt i64 %".234", 0
  %".264" = sub i64 0, %".234"
  %".265" = select  i1 %".263", i64 %".264", i64 0
  %".266" = sub i64 16, %".234"
  %".267" = icmp slt i64 %".266", 8
  %".268" = select  i1 %".267", i64 %".266", i64 8
  %".269" = icmp slt i64 %".235", 0
  %".270" = sub i64 0, %".235"
  %".271" = select  i1 %".269", i64 %".270", i64 0
  %".272" = sub i64 4, %".235"
  %".273" = icmp slt i64 %".272", 4
  %".274" = select  i1 %".273", i64 %".272", i64 4
  br label %"loop.10"
loop.10:
  %"i.10" = phi  i64 [%".259", %"done.9"], [%".301", %"done.11"]
  %".276" = icmp slt i64 %"i.10", %".262"
  br i1 %".276", label %"body.10", label %"done.10"
body.10:
  br label %"loop.11"
done.10:
  br label %"end.2"
loop.11:
  %"i.11" = phi  i64 [%".265", %"body.10"], [%".299", %"done.12"]
  %".279" = icmp slt i64 %"i.11", %".268"
  br i1 %".279", label %"body.11", label %"done.11"
body.11:
  br label %"loop.12"
done.11:
  %".301" = add i64 %"i.10", 1
  br label %"loop.10"
loop.12:
  %"i.12" = phi  i64 [%".271", %"body.11"], [%".297", %"body.12"]
  %".282" = icmp slt i64 %"i.12", %".274"
  br i1 %".282", label %"body.12", label %"done.12"
body.12:
  %".284" = add i64 %".231", %"i.10"
  %".285" = add i64 %".234", %"i.11"
  %".286" = add i64 %".235", %"i.12"
  %".287" = mul i64 %".284", 64
  %".288" = mul i64 %".285", 4
  %".289" = add i64 %".287", %".288"
  %".290" = add i64 %".289", %".286"
  %".291" = getelementptr inbounds float, ptr %".22", i64 %".290"
  %".292" = load float, ptr %".291", align 4
  %".293" = mul i64 %"i.11", 4
  %".294" = add i64 %".293", %"i.12"
  %".295" = getelementptr inbounds float, ptr %".246", i64 %".294"
  store float %".292", ptr %".295", align 4
  %".297" = add i64 %"i.12", 1
  br label %"loop.12"
done.12:
  %".299" = add i64 %"i.11", 1
  br label %"loop.11"
then.3:
  br label %"loop.13"
end.3:
  %".381" = select  i1 %".317", ptr %".322", ptr %".323"
  %".382" = trunc i64 %".15" to i32
  %".383" = trunc i64 %".13" to i32
  %".384" = trunc i64 %"i" to i32
  %".385" = sext i32 %".382" to i64
  %".386" = sext i32 0 to i64
  %".387" = sext i32 %".383" to i64
  %".388" = mul i64 %".387", 4
  %".389" = icmp ule i64 %".385", 0
  %".390" = icmp ule i64 %".386", 0
  %".391" = icmp ule i64 %".388", 4
  %".392" = and i1 %".389", %".390"
  %".393" = and i1 %".392", %".391"
  %".394" = mul i64 %".385", 8
  %".395" = mul i64 %".386", 8
  %".396" = add i64 %".394", %".395"
  %".397" = add i64 %".396", %".388"
  %".398" = getelementptr float, ptr %".26", i64 %".397"
  %".399" = getelementptr i8, ptr %".3", i64 640
  %".400" = xor i1 %".393", -1
  br i1 %".400", label %"then.4", label %"end.4"
loop.13:
  %"i.13" = phi  i64 [0, %"then.3"], [%".332", %"body.13"]
  %".327" = icmp slt i64 %"i.13", 4
  br i1 %".327", label %"body.13", label %"done.13"
body.13:
  %".329" = mul i64 %"i.13", 4
  %".330" = getelementptr inbounds float, ptr %".323", i64 %".329"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".330", align 4
  %".332" = add i64 %"i.13", 1
  br label %"loop.13"
done.13:
  %".334" = icmp slt i64 %".308", 0
  %".335" = sub i64 0, %".308"
  %".336" = select  i1 %".334", i64 %".335", i64 0
  %".337" = sub i64 1, %".308"
  %".338" = icmp slt i64 %".337", 1
  %".339" = select  i1 %".338", i64 %".337", i64 1
  %".340" = icmp slt i64 %".311", 0
  %".341" = sub i64 0, %".311"
  %".342" = select  i1 %".340", i64 %".341", i64 0
  %".343" = sub i64 8, %".311"
  %".344" = icmp slt i64 %".343", 4
  %".345" = select  i1 %".344", i64 %".343", i64 4
  %".346" = icmp slt i64 %".312", 0
  %".347" = sub i64 0, %".312"
  %".348" = select  i1 %".346", i64 %".347", i64 0
  %".349" = sub i64 4, %".312"
  %".350" = icmp slt i64 %".349", 4
  %".351" = select  i1 %".350", i64 %".349", i64 4
  br label %"loop.14"
loop.14:
  %"i.14" = phi  i64 [%".336", %"done.13"], [%".378", %"done.15"]
  %".353" = icmp slt i64 %"i.14", %".339"
  br i1 %".353", label %"body.14", label %"done.14"
body.14:
  br label %"loop.15"
done.14:
  br label %"end.3"
loop.15:
  %"i.15" = phi  i64 [%".342", %"body.14"], [%".376", %"done.16"]
  %".356" = icmp slt i64 %"i.15", %".345"
  br i1 %".356", label %"body.15", label %"done.15"
body.15:
  br label %"loop.16"
done.15:
  %".378" = add i64 %"i.14", 1
  br label %"loop.14"
loop.16:
  %"i.16" = phi  i64 [%".348", %"body.15"], [%".374", %"body.16"]
  %".359" = icmp slt i64 %"i.16", %".351"
  br i1 %".359", label %"body.16", label %"done.16"
body.16:
  %".361" = add i64 %".308", %"i.14"
  %".362" = add i64 %".311", %"i.15"
  %".363" = add i64 %".312", %"i.16"
  %".364" = mul i64 %".361", 32
  %".365" = mul i64 %".362", 4
  %".366" = add i64 %".364", %".365"
  %".367" = add i64 %".366", %".363"
  %".368" = getelementptr inbounds float, ptr %".24", i64 %".367"
  %".369" = load float, ptr %".368", align 4
  %".370" = mul i64 %"i.15", 4
  %".371" = add i64 %".370", %"i.16"
  %".372" = getelementptr inbounds float, ptr %".323", i64 %".371"
  store float %".369", ptr %".372", align 4
  %".374" = add i64 %"i.16", 1
  br label %"loop.16"
done.16:
  %".376" = add i64 %"i.15", 1
  br label %"loop.15"
then.4:
  %".402" = getelementptr inbounds float, ptr %".399", i64 0
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".402", align 4
  %".404" = icmp slt i64 %".385", 0
  %".405" = sub i64 0, %".385"
  %".406" = select  i1 %".404", i64 %".405", i64 0
  %".407" = sub i64 1, %".385"
  %".408" = icmp slt i64 %".407", 1
  %".409" = select  i1 %".408", i64 %".407", i64 1
  %".410" = icmp slt i64 %".386", 0
  %".411" = sub i64 0, %".386"
  %".412" = select  i1 %".410", i64 %".411", i64 0
  %".413" = sub i64 1, %".386"
  %".414" = icmp slt i64 %".413", 1
  %".415" = select  i1 %".414", i64 %".413", i64 1
  %".416" = icmp slt i64 %".388", 0
  %".417" = sub i64 0, %".388"
  %".418" = select  i1 %".416", i64 %".417", i64 0
  %".419" = sub i64 8, %".388"
  %".420" = icmp slt i64 %".419", 4
  %".421" = select  i1 %".420", i64 %".419", i64 4
  br label %"loop.17"
end.4:
  %".451" = select  i1 %".393", ptr %".398", ptr %".399"
  %".452" = select  i1 %".393", i64 8, i64 4
  %".453" = icmp eq i32 %".36", 0
  %".454" = zext i1 %".453" to i32
  %".455" = sext i32 %".454" to i64
  %".456" = icmp slt i64 %".455", 0
  %".457" = select  i1 %".456", i64 0, i64 %".455"
  switch i64 %".457", label %"case.1" [i64 0, label %"case.0"]
loop.17:
  %"i.17" = phi  i64 [%".406", %"then.4"], [%".448", %"done.18"]
  %".423" = icmp slt i64 %"i.17", %".409"
  br i1 %".423", label %"body.17", label %"done.17"
body.17:
  br label %"loop.18"
done.17:
  br label %"end.4"
loop.18:
  %"i.18" = phi  i64 [%".412", %"body.17"], [%".446", %"done.19"]
  %".426" = icmp slt i64 %"i.18", %".415"
  br i1 %".426", label %"body.18", label %"done.18"
body.18:
  br label %"loop.19"
done.18:
  %".448" = add i64 %"i.17", 1
  br label %"loop.17"
loop.19:
  %"i.19" = phi  i64 [%".418", %"body.18"], [%".444", %"body.19"]
  %".429" = icmp slt i64 %"i.19", %".421"
  br i1 %".429", label %"body.19", label %"done.19"
body.19:
  %".431" = add i64 %".385", %"i.17"
  %".432" = add i64 %".386", %"i.18"
  %".433" = add i64 %".388", %"i.19"
  %".434" = mul i64 %".431", 8
  %".435" = mul i64 %".432", 8
  %".436" = add i64 %".434", %".435"
  %".437" = add i64 %".436", %".433"
  %".438" = getelementptr inbounds float, ptr %".26", i64 %".437"
  %".439" = load float, ptr %".438", align 4
  %".440" = mul i64 %"i.18", 4
  %".441" = add i64 %".440", %"i.19"
  %".442" = getelementptr inbounds float, ptr %".399", i64 %".441"
  store float %".439", ptr %".442", align 4
  %".444" = add i64 %"i.19", 1
  br label %"loop.19"
done.19:
  %".446" = add i64 %"i.18", 1
  br label %"loop.18"
switch.done:
  %".506" = mul i32 %".35", 4
  %".507" = add i32 %".506", 3
  %".508" = mul i32 %".36", 8
  %".509" = icmp sle i32 %".508", %".507"
  %".510" = zext i1 %".509" to i32
  %".511" = sext i32 %".510" to i64
  %".512" = icmp slt i64 %".511", 0
  %".513" = select  i1 %".512", i64 0, i64 %".511"
  switch i64 %".513", label %"case.1.1" [i64 0, label %"case.0.1"]
case.0:
  br label %"switch.done"
case.1:
  br label %"loop.20"
loop.20:
  %"i.20" = phi  i64 [0, %"case.1"], [%".485", %"body.20"]
  %".461" = icmp slt i64 %"i.20", 4
  br i1 %".461", label %"body.20", label %"done.20"
body.20:
  %".463" = getelementptr inbounds float, ptr %".116", i64 %"i.20"
  %".464" = getelementptr inbounds float, ptr %".116", i64 %"i.20"
  %".465" = load float, ptr %".464", align 4
  %".466" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".465", i32 0
  %".467" = add i64 4, %"i.20"
  %".468" = getelementptr inbounds float, ptr %".116", i64 %".467"
  %".469" = load float, ptr %".468", align 4
  %".470" = insertelement <4 x float> %".466", float %".469", i32 1
  %".471" = add i64 8, %"i.20"
  %".472" = getelementptr inbounds float, ptr %".116", i64 %".471"
  %".473" = load float, ptr %".472", align 4
  %".474" = insertelement <4 x float> %".470", float %".473", i32 2
  %".475" = add i64 12, %"i.20"
  %".476" = getelementptr inbounds float, ptr %".116", i64 %".475"
  %".477" = load float, ptr %".476", align 4
  %".478" = insertelement <4 x float> %".474", float %".477", i32 3
  %".479" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x3fe0000000000000, i32 0
  %".480" = shufflevector <4 x float> %".479", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".481" = fmul <4 x float> %".478", %".480"
  %".482" = mul i64 %"i.20", 4
  %".483" = getelementptr inbounds float, ptr %".27", i64 %".482"
  store <4 x float> %".481", ptr %".483", align 4
  %".485" = add i64 %"i.20", 1
  br label %"loop.20"
done.20:
  %".487" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc6293e5940000000, i32 0
  %".488" = shufflevector <4 x float> %".487", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".489" = getelementptr inbounds float, ptr %".28", i64 0
  store <4 x float> %".488", ptr %".489", align 4
  %".491" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".492" = shufflevector <4 x float> %".491", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".493" = getelementptr inbounds float, ptr %".29", i64 0
  store <4 x float> %".492", ptr %".493", align 4
  br label %"loop.21"
loop.21:
  %"i.21" = phi  i64 [0, %"done.20"], [%".503", %"body.21"]
  %".496" = icmp slt i64 %"i.21", 4
  br i1 %".496", label %"body.21", label %"done.21"
body.21:
  %".498" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".499" = shufflevector <4 x float> %".498", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".500" = mul i64 %"i.21", 4
  %".501" = getelementptr inbounds float, ptr %".30", i64 %".500"
  store <4 x float> %".499", ptr %".501", align 4
  %".503" = add i64 %"i.21", 1
  br label %"loop.21"
done.21:
  br label %"switch.done"
switch.done.1:
  %".821" = icmp eq i32 %".36", 1
  %".822" = zext i1 %".821" to i32
  %".823" = sext i32 %".822" to i64
  %".824" = icmp slt i64 %".823", 0
  %".825" = select  i1 %".824", i64 0, i64 %".823"
  switch i64 %".825", label %"case.1.2" [i64 0, label %"case.0.2"]
case.0.1:
  br label %"switch.done.1"
case.1.1:
  %".516" = getelementptr i8, ptr %".3", i64 704
  %".517" = getelementptr i8, ptr %".3", i64 832
  br label %"loop.22"
loop.22:
  %"i.22" = phi  i64 [0, %"case.1.1"], [%".625", %"k.done"]
  %".519" = icmp slt i64 %"i.22", 4
  br i1 %".519", label %"body.22", label %"done.22"
body.22:
  br label %"k"
done.22:
  %".627" = getelementptr i8, ptr %".3", i64 1344
  %".628" = getelementptr i8, ptr %".3", i64 1408
  store <4 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <4 x float>* %".629"
  br label %"loop.23"
k:
  %".522" = phi  i64 [0, %"body.22"], [%".592", %"k.body"]
  %".523" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".549", %"k.body"]
  %".524" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".555", %"k.body"]
  %".525" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".561", %"k.body"]
  %".526" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".567", %"k.body"]
  %".527" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".573", %"k.body"]
  %".528" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".579", %"k.body"]
  %".529" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".585", %"k.body"]
  %".530" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.22"], [%".591", %"k.body"]
  %".531" = icmp slt i64 %".522", 4
  br i1 %".531", label %"k.body", label %"k.done"
k.body:
  %".533" = add i64 %".522", 32
  %".534" = icmp slt i64 %".533", 3
  %".535" = select  i1 %".534", i64 %".533", i64 3
  %".536" = mul i64 %".535", 4
  %".537" = add i64 %".536", %"i.22"
  %".538" = getelementptr inbounds float, ptr %".27", i64 %".537"
  call void @"llvm.prefetch.p0"(ptr %".538", i32 0, i32 3, i32 1)
  %".540" = mul i64 %".522", 4
  %".541" = add i64 %".540", %"i.22"
  %".542" = getelementptr inbounds float, ptr %".27", i64 %".541"
  %".543" = load <4 x float>, ptr %".542", align 4
  %".544" = shufflevector <4 x float> %".543", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".545" = getelementptr inbounds float, ptr %".210", i64 %".522"
  %".546" = load float, ptr %".545", align 4
  %".547" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".546", i32 0
  %".548" = shufflevector <16 x float> %".547", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".549" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".548", <16 x float> %".544", <16 x float> %".523")
  %".550" = add i64 4, %".522"
  %".551" = getelementptr inbounds float, ptr %".210", i64 %".550"
  %".552" = load float, ptr %".551", align 4
  %".553" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".552", i32 0
  %".554" = shufflevector <16 x float> %".553", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".555" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".554", <16 x float> %".544", <16 x float> %".524")
  %".556" = add i64 8, %".522"
  %".557" = getelementptr inbounds float, ptr %".210", i64 %".556"
  %".558" = load float, ptr %".557", align 4
  %".559" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".558", i32 0
  %".560" = shufflevector <16 x float> %".559", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".561" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".560", <16 x float> %".544", <16 x float> %".525")
  %".562" = add i64 12, %".522"
  %".563" = getelementptr inbounds float, ptr %".210", i64 %".562"
  %".564" = load float, ptr %".563", align 4
  %".565" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".564", i32 0
  %".566" = shufflevector <16 x float> %".565", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".567" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".566", <16 x float> %".544", <16 x float> %".526")
  %".568" = add i64 16, %".522"
  %".569" = getelementptr inbounds float, ptr %".210", i64 %".568"
  %".570" = load float, ptr %".569", align 4
  %".571" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".570", i32 0
  %".572" = shufflevector <16 x float> %".571", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".573" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".572", <16 x float> %".544", <16 x float> %".527")
  %".574" = add i64 20, %".522"
  %".575" = getelementptr inbounds float, ptr %".210", i64 %".574"
  %".576" = load float, ptr %".575", align 4
  %".577" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".576", i32 0
  %".578" = shufflevector <16 x float> %".577", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".579" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".578", <16 x float> %".544", <16 x float> %".528")
  %".580" = add i64 24, %".522"
  %".581" = getelementptr inbounds float, ptr %".210", i64 %".580"
  %".582" = load float, ptr %".581", align 4
  %".583" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".582", i32 0
  %".584" = shufflevector <16 x float> %".583", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".585" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".584", <16 x float> %".544", <16 x float> %".529")
  %".586" = add i64 28, %".522"
  %".587" = getelementptr inbounds float, ptr %".210", i64 %".586"
  %".588" = load float, ptr %".587", align 4
  %".589" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".588", i32 0
  %".590" = shufflevector <16 x float> %".589", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".591" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".590", <16 x float> %".544", <16 x float> %".530")
  %".592" = add i64 %".522", 1
  br label %"k"
k.done:
  %".594" = shufflevector <16 x float> %".523", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".595" = getelementptr inbounds float, ptr %".516", i64 %"i.22"
  store <4 x float> %".594", ptr %".595", align 4
  %".597" = shufflevector <16 x float> %".524", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".598" = add i64 4, %"i.22"
  %".599" = getelementptr inbounds float, ptr %".516", i64 %".598"
  store <4 x float> %".597", ptr %".599", align 4
  %".601" = shufflevector <16 x float> %".525", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".602" = add i64 8, %"i.22"
  %".603" = getelementptr inbounds float, ptr %".516", i64 %".602"
  store <4 x float> %".601", ptr %".603", align 4
  %".605" = shufflevector <16 x float> %".526", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".606" = add i64 12, %"i.22"
  %".607" = getelementptr inbounds float, ptr %".516", i64 %".606"
  store <4 x float> %".605", ptr %".607", align 4
  %".609" = shufflevector <16 x float> %".527", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".610" = add i64 16, %"i.22"
  %".611" = getelementptr inbounds float, ptr %".516", i64 %".610"
  store <4 x float> %".609", ptr %".611", align 4
  %".613" = shufflevector <16 x float> %".528", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".614" = add i64 20, %"i.22"
  %".615" = getelementptr inbounds float, ptr %".516", i64 %".614"
  store <4 x float> %".613", ptr %".615", align 4
  %".617" = shufflevector <16 x float> %".529", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".618" = add i64 24, %"i.22"
  %".619" = getelementptr inbounds float, ptr %".516", i64 %".618"
  store <4 x float> %".617", ptr %".619", align 4
  %".621" = shufflevector <16 x float> %".530", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".622" = add i64 28, %"i.22"
  %".623" = getelementptr inbounds float, ptr %".516", i64 %".622"
  store <4 x float> %".621", ptr %".623", align 4
  %".625" = add i64 %"i.22", 4
  br label %"loop.22"
loop.23:
  %"i.23" = phi  i64 [0, %"done.22"], [%".664", %"body.23"]
  %".632" = icmp slt i64 %"i.23", 8
  br i1 %".632", label %"body.23", label %"done.23"
body.23:
  %".634" = load <4 x float>, <4 x float>* %".629"
  %".635" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".508", i32 0
  %".636" = shufflevector <4 x i32> %".635", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".637" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 %"i.23", i32 0
  %".638" = shufflevector <4 x i64> %".637", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".639" = add <4 x i64> %".638", <i64 0, i64 0, i64 0, i64 0>
  %".640" = trunc <4 x i64> %".639" to <4 x i32>
  %".641" = add <4 x i32> %".636", %".640"
  %".642" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".506", i32 0
  %".643" = shufflevector <4 x i32> %".642", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".644" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 0, i32 0
  %".645" = shufflevector <4 x i64> %".644", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".646" = add <4 x i64> %".645", <i64 0, i64 1, i64 2, i64 3>
  %".647" = trunc <4 x i64> %".646" to <4 x i32>
  %".648" = add <4 x i32> %".643", %".647"
  %".649" = icmp sle <4 x i32> %".641", %".648"
  %".650" = mul i64 %"i.23", 4
  %".651" = getelementptr inbounds float, ptr %".516", i64 %".650"
  %".652" = load <4 x float>, ptr %".651", align 4
  %".653" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc6293e5940000000, i32 0
  %".654" = shufflevector <4 x float> %".653", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".655" = select  <4 x i1> %".649", <4 x float> %".652", <4 x float> %".654"
  %".656" = mul i64 %"i.23", 4
  %".657" = getelementptr inbounds float, ptr %".628", i64 %".656"
  store <4 x float> %".655", ptr %".657", align 4
  %".659" = fcmp ogt <4 x float> %".634", %".655"
  %".660" = select  <4 x i1> %".659", <4 x float> %".634", <4 x float> %".655"
  %".661" = fcmp uno <4 x float> %".634", %".634"
  %".662" = select  <4 x i1> %".661", <4 x float> %".634", <4 x float> %".660"
  store <4 x float> %".662", <4 x float>* %".629"
  %".664" = add i64 %"i.23", 1
  br label %"loop.23"
done.23:
  %".666" = load <4 x float>, <4 x float>* %".629"
  %".667" = getelementptr inbounds float, ptr %".627", i64 0
  store <4 x float> %".666", ptr %".667", align 4
  %".669" = getelementptr i8, ptr %".3", i64 1536
  %".670" = getelementptr inbounds float, ptr %".28", i64 0
  %".671" = load <4 x float>, ptr %".670", align 4
  %".672" = getelementptr inbounds float, ptr %".627", i64 0
  %".673" = load <4 x float>, ptr %".672", align 4
  %".674" = fcmp ogt <4 x float> %".671", %".673"
  %".675" = select  <4 x i1> %".674", <4 x float> %".671", <4 x float> %".673"
  %".676" = fcmp uno <4 x float> %".671", %".671"
  %".677" = select  <4 x i1> %".676", <4 x float> %".671", <4 x float> %".675"
  %".678" = getelementptr inbounds float, ptr %".669", i64 0
  store <4 x float> %".677", ptr %".678", align 4
  %".680" = getelementptr i8, ptr %".3", i64 1600
  %".681" = getelementptr inbounds float, ptr %".28", i64 0
  %".682" = load <4 x float>, ptr %".681", align 4
  %".683" = getelementptr inbounds float, ptr %".669", i64 0
  %".684" = load <4 x float>, ptr %".683", align 4
  %".685" = fsub <4 x float> %".682", %".684"
  %".686" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".685")
  %".687" = getelementptr inbounds float, ptr %".680", i64 0
  store <4 x float> %".686", ptr %".687", align 4
  %".689" = getelementptr i8, ptr %".3", i64 1664
  %".690" = getelementptr i8, ptr %".3", i64 1728
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".691"
  br label %"loop.24"
loop.24:
  %"i.24" = phi  i64 [0, %"done.23"], [%".709", %"body.24"]
  %".694" = icmp slt i64 %"i.24", 8
  br i1 %".694", label %"body.24", label %"done.24"
body.24:
  %".696" = load <4 x float>, <4 x float>* %".691"
  %".697" = mul i64 %"i.24", 4
  %".698" = getelementptr inbounds float, ptr %".628", i64 %".697"
  %".699" = load <4 x float>, ptr %".698", align 4
  %".700" = getelementptr inbounds float, ptr %".669", i64 0
  %".701" = load <4 x float>, ptr %".700", align 4
  %".702" = fsub <4 x float> %".699", %".701"
  %".703" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".702")
  %".704" = mul i64 %"i.24", 4
  %".705" = getelementptr inbounds float, ptr %".690", i64 %".704"
  store <4 x float> %".703", ptr %".705", align 4
  %".707" = fadd <4 x float> %".696", %".703"
  store <4 x float> %".707", <4 x float>* %".691"
  %".709" = add i64 %"i.24", 1
  br label %"loop.24"
done.24:
  %".711" = load <4 x float>, <4 x float>* %".691"
  %".712" = getelementptr inbounds float, ptr %".689", i64 0
  store <4 x float> %".711", ptr %".712", align 4
  %".714" = getelementptr inbounds float, ptr %".29", i64 0
  %".715" = load <4 x float>, ptr %".714", align 4
  %".716" = getelementptr inbounds float, ptr %".680", i64 0
  %".717" = load <4 x float>, ptr %".716", align 4
  %".718" = fmul <4 x float> %".715", %".717"
  %".719" = getelementptr inbounds float, ptr %".689", i64 0
  %".720" = load <4 x float>, ptr %".719", align 4
  %".721" = fadd <4 x float> %".718", %".720"
  %".722" = getelementptr inbounds float, ptr %".29", i64 0
  store <4 x float> %".721", ptr %".722", align 4
  br label %"loop.25"
loop.25:
  %"i.25" = phi  i64 [0, %"done.24"], [%".736", %"body.25"]
  %".725" = icmp slt i64 %"i.25", 4
  br i1 %".725", label %"body.25", label %"done.25"
body.25:
  %".727" = mul i64 %"i.25", 4
  %".728" = getelementptr inbounds float, ptr %".30", i64 %".727"
  %".729" = load <4 x float>, ptr %".728", align 4
  %".730" = getelementptr inbounds float, ptr %".680", i64 0
  %".731" = load <4 x float>, ptr %".730", align 4
  %".732" = fmul <4 x float> %".729", %".731"
  %".733" = mul i64 %"i.25", 4
  %".734" = getelementptr inbounds float, ptr %".30", i64 %".733"
  store <4 x float> %".732", ptr %".734", align 4
  %".736" = add i64 %"i.25", 1
  br label %"loop.25"
done.25:
  %".738" = getelementptr i8, ptr %".3", i64 1856
  br label %"loop.26"
loop.26:
  %"i.26" = phi  i64 [0, %"done.25"], [%".814", %"k.done.1"]
  %".740" = icmp slt i64 %"i.26", 4
  br i1 %".740", label %"body.26", label %"done.26"
body.26:
  %".742" = getelementptr inbounds float, ptr %".30", i64 %"i.26"
  %".743" = load <4 x float>, ptr %".742", align 4
  %".744" = shufflevector <4 x float> %".743", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".745" = add i64 4, %"i.26"
  %".746" = getelementptr inbounds float, ptr %".30", i64 %".745"
  %".747" = load <4 x float>, ptr %".746", align 4
  %".748" = shufflevector <4 x float> %".747", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".749" = add i64 8, %"i.26"
  %".750" = getelementptr inbounds float, ptr %".30", i64 %".749"
  %".751" = load <4 x float>, ptr %".750", align 4
  %".752" = shufflevector <4 x float> %".751", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".753" = add i64 12, %"i.26"
  %".754" = getelementptr inbounds float, ptr %".30", i64 %".753"
  %".755" = load <4 x float>, ptr %".754", align 4
  %".756" = shufflevector <4 x float> %".755", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  br label %"k.1"
done.26:
  %".816" = getelementptr inbounds float, ptr %".669", i64 0
  %".817" = load <4 x float>, ptr %".816", align 4
  %".818" = getelementptr inbounds float, ptr %".28", i64 0
  store <4 x float> %".817", ptr %".818", align 4
  br label %"switch.done.1"
k.1:
  %".758" = phi  i64 [0, %"body.26"], [%".797", %"k.body.1"]
  %".759" = phi  <16 x float> [%".744", %"body.26"], [%".775", %"k.body.1"]
  %".760" = phi  <16 x float> [%".748", %"body.26"], [%".782", %"k.body.1"]
  %".761" = phi  <16 x float> [%".752", %"body.26"], [%".789", %"k.body.1"]
  %".762" = phi  <16 x float> [%".756", %"body.26"], [%".796", %"k.body.1"]
  %".763" = icmp slt i64 %".758", 8
  br i1 %".763", label %"k.body.1", label %"k.done.1"
k.body.1:
  %".765" = mul i64 %".758", 4
  %".766" = add i64 %".765", %"i.26"
  %".767" = getelementptr inbounds float, ptr %".690", i64 %".766"
  %".768" = load <4 x float>, ptr %".767", align 4
  %".769" = shufflevector <4 x float> %".768", <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".770" = mul i64 %".758", 4
  %".771" = getelementptr inbounds float, ptr %".304", i64 %".770"
  %".772" = load float, ptr %".771", align 4
  %".773" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".772", i32 0
  %".774" = shufflevector <16 x float> %".773", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".775" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".774", <16 x float> %".769", <16 x float> %".759")
  %".776" = mul i64 %".758", 4
  %".777" = add i64 %".776", 1
  %".778" = getelementptr inbounds float, ptr %".304", i64 %".777"
  %".779" = load float, ptr %".778", align 4
  %".780" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".779", i32 0
  %".781" = shufflevector <16 x float> %".780", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".782" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".781", <16 x float> %".769", <16 x float> %".760")
  %".783" = mul i64 %".758", 4
  %".784" = add i64 %".783", 2
  %".785" = getelementptr inbounds float, ptr %".304", i64 %".784"
  %".786" = load float, ptr %".785", align 4
  %".787" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".786", i32 0
  %".788" = shufflevector <16 x float> %".787", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".789" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".788", <16 x float> %".769", <16 x float> %".761")
  %".790" = mul i64 %".758", 4
  %".791" = add i64 %".790", 3
  %".792" = getelementptr inbounds float, ptr %".304", i64 %".791"
  %".793" = load float, ptr %".792", align 4
  %".794" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".793", i32 0
  %".795" = shufflevector <16 x float> %".794", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".796" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".795", <16 x float> %".769", <16 x float> %".762")
  %".797" = add i64 %".758", 1
  br label %"k.1"
k.done.1:
  %".799" = shufflevector <16 x float> %".759", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".800" = getelementptr inbounds float, ptr %".30", i64 %"i.26"
  store <4 x float> %".799", ptr %".800", align 4
  %".802" = shufflevector <16 x float> %".760", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".803" = add i64 4, %"i.26"
  %".804" = getelementptr inbounds float, ptr %".30", i64 %".803"
  store <4 x float> %".802", ptr %".804", align 4
  %".806" = shufflevector <16 x float> %".761", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".807" = add i64 8, %"i.26"
  %".808" = getelementptr inbounds float, ptr %".30", i64 %".807"
  store <4 x float> %".806", ptr %".808", align 4
  %".810" = shufflevector <16 x float> %".762", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".811" = add i64 12, %"i.26"
  %".812" = getelementptr inbounds float, ptr %".30", i64 %".811"
  store <4 x float> %".810", ptr %".812", align 4
  %".814" = add i64 %"i.26", 4
  br label %"loop.26"
switch.done.2:
  br i1 %".324", label %"then.5", label %"end.5"
case.0.2:
  br label %"switch.done.2"
case.1.2:
  %".828" = getelementptr i8, ptr %".3", i64 2880
  %".829" = getelementptr inbounds float, ptr %".28", i64 0
  %".830" = load <4 x float>, ptr %".829", align 4
  %".831" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc6193e5940000000, i32 0
  %".832" = shufflevector <4 x float> %".831", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".833" = fcmp ogt <4 x float> %".830", %".832"
  %".834" = getelementptr inbounds i8, ptr %".828", i64 0
  %".835" = zext <4 x i1> %".833" to <4 x i8>
  store <4 x i8> %".835", ptr %".834", align 1
  br label %"loop.27"
loop.27:
  %"i.27" = phi  i64 [0, %"case.1.2"], [%".869", %"body.27"]
  %".838" = icmp slt i64 %"i.27", 4
  br i1 %".838", label %"body.27", label %"done.27"
body.27:
  %".840" = getelementptr inbounds i8, ptr %".828", i64 %"i.27"
  %".841" = load i8, ptr %".840", align 1
  %".842" = icmp ne i8 %".841", 0
  %".843" = getelementptr inbounds float, ptr %".29", i64 %"i.27"
  %".844" = load float, ptr %".843", align 4
  %".845" = fdiv float 0x3ff0000000000000, %".844"
  %".846" = select  i1 %".842", float %".845", float              0x0
  %".847" = getelementptr inbounds float, ptr %".30", i64 %"i.27"
  %".848" = getelementptr inbounds float, ptr %".30", i64 %"i.27"
  %".849" = load float, ptr %".848", align 4
  %".850" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".849", i32 0
  %".851" = add i64 4, %"i.27"
  %".852" = getelementptr inbounds float, ptr %".30", i64 %".851"
  %".853" = load float, ptr %".852", align 4
  %".854" = insertelement <4 x float> %".850", float %".853", i32 1
  %".855" = add i64 8, %"i.27"
  %".856" = getelementptr inbounds float, ptr %".30", i64 %".855"
  %".857" = load float, ptr %".856", align 4
  %".858" = insertelement <4 x float> %".854", float %".857", i32 2
  %".859" = add i64 12, %"i.27"
  %".860" = getelementptr inbounds float, ptr %".30", i64 %".859"
  %".861" = load float, ptr %".860", align 4
  %".862" = insertelement <4 x float> %".858", float %".861", i32 3
  %".863" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".846", i32 0
  %".864" = shufflevector <4 x float> %".863", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".865" = fmul <4 x float> %".862", %".864"
  %".866" = mul i64 %"i.27", 4
  %".867" = getelementptr inbounds float, ptr %".381", i64 %".866"
  store <4 x float> %".865", ptr %".867", align 4
  %".869" = add i64 %"i.27", 1
  br label %"loop.27"
done.27:
  %".871" = getelementptr inbounds i8, ptr %".828", i64 0
  %".872" = load <4 x i8>, ptr %".871", align 1
  %".873" = icmp ne <4 x i8> %".872", <i8 0, i8 0, i8 0, i8 0>
  %".874" = getelementptr inbounds float, ptr %".28", i64 0
  %".875" = load <4 x float>, ptr %".874", align 4
  %".876" = getelementptr inbounds float, ptr %".29", i64 0
  %".877" = load <4 x float>, ptr %".876", align 4
  %".878" = call <4 x float> @"tilewright.log.v4f32"(<4 x float> %".877")
  %".879" = fadd <4 x float> %".875", %".878"
  %".880" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x46293e5940000000, i32 0
  %".881" = shufflevector <4 x float> %".880", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".882" = select  <4 x i1> %".873", <4 x float> %".879", <4 x float> %".881"
  %".883" = getelementptr inbounds float, ptr %".451", i64 0
  store <4 x float> %".882", ptr %".883", align 4
  br label %"switch.done.2"
then.5:
  %".887" = icmp slt i64 %".308", 0
  %".888" = sub i64 0, %".308"
  %".889" = select  i1 %".887", i64 %".888", i64 0
  %".890" = sub i64 1, %".308"
  %".891" = icmp slt i64 %".890", 1
  %".892" = select  i1 %".891", i64 %".890", i64 1
  %".893" = icmp slt i64 %".311", 0
  %".894" = sub i64 0, %".311"
  %".895" = select  i1 %".893", i64 %".894", i64 0
  %".896" = sub i64 8, %".311"
  %".897" = icmp slt i64 %".896", 4
  %".898" = select  i1 %".897", i64 %".896", i64 4
  %".899" = icmp slt i64 %".312", 0
  %".900" = sub i64 0, %".312"
  %".901" = select  i1 %".899", i64 %".900", i64 0
  %".902" = sub i64 4, %".312"
  %".903" = icmp slt i64 %".902", 4
  %".904" = select  i1 %".903", i64 %".902", i64 4
  br label %"loop.28"
end.5:
  br i1 %".400", label %"then.6", label %"end.6"
loop.28:
  %"i.28" = phi  i64 [%".889", %"then.5"], [%".931", %"done.29"]
  %".906" = icmp slt i64 %"i.28", %".892"
  br i1 %".906", label %"body.28", label %"done.28"
body.28:
  br label %"loop.29"
done.28:
  br label %"end.5"
loop.29:
  %"i.29" = phi  i64 [%".895", %"body.28"], [%".929", %"done.30"]
  %".909" = icmp slt i64 %"i.29", %".898"
  br i1 %".909", label %"body.29", label %"done.29"
body.29:
  br label %"loop.30"
done.29:
  %".931" = add i64 %"i.28", 1
  br label %"loop.28"
loop.30:
  %"i.30" = phi  i64 [%".901", %"body.29"], [%".927", %"body.30"]
  %".912" = icmp slt i64 %"i.30", %".904"
  br i1 %".912", label %"body.30", label %"done.30"
body.30:
  %".914" = add i64 %".308", %"i.28"
  %".915" = add i64 %".311", %"i.29"
  %".916" = add i64 %".312", %"i.30"
  %".917" = mul i64 %"i.29", 4
  %".918" = add i64 %".917", %"i.30"
  %".919" = getelementptr inbounds float, ptr %".323", i64 %".918"
  %".920" = load float, ptr %".919", align 4
  %".921" = mul i64 %".914", 32
  %".922" = mul i64 %".915", 4
  %".923" = add i64 %".921", %".922"
  %".924" = add i64 %".923", %".916"
  %".925" = getelementptr inbounds float, ptr %".24", i64 %".924"
  store float %".920", ptr %".925", align 4
  %".927" = add i64 %"i.30", 1
  br label %"loop.30"
done.30:
  %".929" = add i64 %"i.29", 1
  br label %"loop.29"
then.6:
  %".935" = icmp slt i64 %".385", 0
  %".936" = sub i64 0, %".385"
  %".937" = select  i1 %".935", i64 %".936", i64 0
  %".938" = sub i64 1, %".385"
  %".939" = icmp slt i64 %".938", 1
  %".940" = select  i1 %".939", i64 %".938", i64 1
  %".941" = icmp slt i64 %".386", 0
  %".942" = sub i64 0, %".386"
  %".943" = select  i1 %".941", i64 %".942", i64 0
  %".944" = sub i64 1, %".386"
  %".945" = icmp slt i64 %".944", 1
  %".946" = select  i1 %".945", i64 %".944", i64 1
  %".947" = icmp slt i64 %".388", 0
  %".948" = sub i64 0, %".388"
  %".949" = select  i1 %".947", i64 %".948", i64 0
  %".950" = sub i64 8, %".388"
  %".951" = icmp slt i64 %".950", 4
  %".952" = select  i1 %".951", i64 %".950", i64 4
  br label %"loop.31"
end.6:
  %".982" = add i64 %"i", 1
  br label %"loop"
loop.31:
  %"i.31" = phi  i64 [%".937", %"then.6"], [%".979", %"done.32"]
  %".954" = icmp slt i64 %"i.31", %".940"
  br i1 %".954", label %"body.31", label %"done.31"
body.31:
  br label %"loop.32"
done.31:
  br label %"end.6"
loop.32:
  %"i.32" = phi  i64 [%".943", %"body.31"], [%".977", %"done.33"]
  %".957" = icmp slt i64 %"i.32", %".946"
  br i1 %".957", label %"body.32", label %"done.32"
body.32:
  br label %"loop.33"
done.32:
  %".979" = add i64 %"i.31", 1
  br label %"loop.31"
loop.33:
  %"i.33" = phi  i64 [%".949", %"body.32"], [%".975", %"body.33"]
  %".960" = icmp slt i64 %"i.33", %".952"
  br i1 %".960", label %"body.33", label %"done.33"
body.33:
  %".962" = add i64 %".385", %"i.31"
  %".963" = add i64 %".386", %"i.32"
  %".964" = add i64 %".388", %"i.33"
  %".965" = mul i64 %"i.32", 4
  %".966" = add i64 %".965", %"i.33"
  %".967" = getelementptr inbounds float, ptr %".399", i64 %".966"
  %".968" = load float, ptr %".967", align 4
  %".969" = mul i64 %".962", 8
  %".970" = mul i64 %".963", 8
  %".971" = add i64 %".969", %".970"
  %".972" = add i64 %".971", %".964"
  %".973" = getelementptr inbounds float, ptr %".26", i64 %".972"
  store float %".968", ptr %".973", align 4
  %".975" = add i64 %"i.33", 1
  br label %"loop.33"
done.33:
  %".977" = add i64 %"i.32", 1
  br label %"loop.32"
}
