; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".463" = alloca <4 x float>
  %".515" = alloca <4 x float>
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
  %".15" = getelementptr ptr, ptr %".1", i64 0
  %".16" = load ptr, ptr %".15"
  %".17" = getelementptr ptr, ptr %".1", i64 1
  %".18" = load ptr, ptr %".17"
  %".19" = getelementptr ptr, ptr %".1", i64 2
  %".20" = load ptr, ptr %".19"
  %".21" = getelementptr ptr, ptr %".1", i64 3
  %".22" = load ptr, ptr %".21"
  %".23" = getelementptr ptr, ptr %".1", i64 4
  %".24" = load ptr, ptr %".23"
  %".25" = getelementptr i8, ptr %".3", i64 0
  %".26" = getelementptr i8, ptr %".3", i64 64
  %".27" = getelementptr i8, ptr %".3", i64 128
  %".28" = getelementptr i8, ptr %".3", i64 192
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".712", %"switch.done.2"]
  %".30" = icmp slt i64 %"i", %".12"
  br i1 %".30", label %"body", label %"done"
body:
  %".32" = trunc i64 %".14" to i32
  %".33" = trunc i64 %".13" to i32
  %".34" = trunc i64 %"i" to i32
  %".35" = trunc i64 %".8" to i32
  %".36" = trunc i64 %".10" to i32
  %".37" = trunc i64 %".12" to i32
  %".38" = trunc i64 %".14" to i32
  %".39" = trunc i64 %".13" to i32
  %".40" = trunc i64 %"i" to i32
  %".41" = sext i32 %".38" to i64
  %".42" = sext i32 %".39" to i64
  %".43" = mul i64 %".42", 4
  %".44" = sext i32 0 to i64
  %".45" = mul i64 %".44", 4
  %".46" = mul i64 %".41", 32
  %".47" = mul i64 %".43", 4
  %".48" = add i64 %".46", %".47"
  %".49" = add i64 %".48", %".45"
  %".50" = getelementptr float, ptr %".16", i64 %".49"
  %".51" = trunc i64 %".14" to i32
  %".52" = trunc i64 %".13" to i32
  %".53" = trunc i64 %"i" to i32
  %".54" = icmp sgt i32 %".51", 0
  %".55" = icmp slt i32 %".51", 0
  %".56" = select  i1 %".55", i32 4294967295, i32 0
  %".57" = select  i1 %".54", i32 1, i32 %".56"
  %".58" = icmp ne i32 %".57", 1
  %".59" = icmp eq i32 1, 0
  %".60" = icmp eq i32 %".51", 2147483648
  %".61" = icmp eq i32 1, 4294967295
  %".62" = and i1 %".60", %".61"
  %".63" = or i1 %".59", %".62"
  %".64" = select  i1 %".63", i32 1, i32 1
  %".65" = srem i32 %".51", %".64"
  %".66" = select  i1 %".59", i32 %".51", i32 %".65"
  %".67" = icmp ne i32 %".66", 0
  %".68" = and i1 %".58", %".67"
  %".69" = sub i32 %".51", 1
  %".70" = select  i1 %".68", i32 %".69", i32 %".51"
  %".71" = sext i32 %".70" to i64
  %".72" = sext i32 %".53" to i64
  %".73" = mul i64 %".72", 8
  %".74" = sext i32 0 to i64
  %".75" = mul i64 %".74", 4
  %".76" = icmp ule i64 %".71", 0
  %".77" = mul i64 %".71", 64
  %".78" = mul i64 %".73", 4
  %".79" = add i64 %".77", %".78"
  %".80" = add i64 %".79", %".75"
  %".81" = getelementptr float, ptr %".18", i64 %".80"
  %".82" = getelementptr i8, ptr %".3", i64 256
  %".83" = xor i1 %".76", -1
  br i1 %".83", label %"then", label %"end"
done:
  ret void
then:
  br label %"loop.1"
end:
  %".163" = select  i1 %".76", ptr %".81", ptr %".82"
  %".164" = trunc i64 %".14" to i32
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
  %".194" = getelementptr float, ptr %".20", i64 %".193"
  %".195" = getelementptr i8, ptr %".3", i64 384
  %".196" = xor i1 %".189", -1
  br i1 %".196", label %"then.1", label %"end.1"
loop.1:
  %"i.1" = phi  i64 [0, %"then"], [%".91", %"body.1"]
  %".86" = icmp slt i64 %"i.1", 8
  br i1 %".86", label %"body.1", label %"done.1"
body.1:
  %".88" = mul i64 %"i.1", 4
  %".89" = getelementptr inbounds float, ptr %".82", i64 %".88"
  store <4 x float> splat (float 0x7ff8000000000000), ptr %".89", align 4
  %".91" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  %".93" = icmp slt i64 %".71", 0
  %".94" = sub i64 0, %".71"
  %".95" = select  i1 %".93", i64 %".94", i64 0
  %".96" = sub i64 1, %".71"
  %".97" = icmp slt i64 %".96", 1
  %".98" = select  i1 %".97", i64 %".96", i64 1
  br label %"loop.2"
loop.2:
  %"i.2" = phi  i64 [%".95", %"done.1"], [%".160", %"done.3"]
  %".100" = icmp slt i64 %"i.2", %".98"
  br i1 %".100", label %"body.2", label %"done.2"
body.2:
  %".102" = add i64 %".71", %"i.2"
  %".103" = icmp slt i64 %".73", 0
  %".104" = sub i64 0, %".73"
  %".105" = select  i1 %".103", i64 %".104", i64 0
  %".106" = sub i64 16, %".73"
  %".107" = icmp slt i64 %".106", 8
  %".108" = select  i1 %".107", i64 %".106", i64 8
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".105", %"body.2"], [%".158", %"done.5"]
  %".110" = icmp slt i64 %"i.3", %".108"
  br i1 %".110", label %"body.3", label %"done.3"
body.3:
  %".112" = add i64 %".73", %"i.3"
  %".113" = icmp slt i64 %".75", 0
  %".114" = sub i64 0, %".75"
  %".115" = select  i1 %".113", i64 %".114", i64 0
  %".116" = sub i64 4, %".75"
  %".117" = icmp slt i64 %".116", 4
  %".118" = select  i1 %".117", i64 %".116", i64 4
  %".119" = icmp sgt i64 %".118", %".115"
  %".120" = sub i64 %".118", %".115"
  %".121" = select  i1 %".119", i64 %".120", i64 0
  %".122" = add i64 %".75", %".115"
  %".123" = and i64 %".121", -16
  br label %"loop.4"
done.3:
  %".160" = add i64 %"i.2", 1
  br label %"loop.2"
loop.4:
  %"i.4" = phi  i64 [0, %"body.3"], [%".139", %"body.4"]
  %".125" = icmp slt i64 %"i.4", %".123"
  br i1 %".125", label %"body.4", label %"done.4"
body.4:
  %".127" = add i64 %".122", %"i.4"
  %".128" = add i64 %".115", %"i.4"
  %".129" = mul i64 %".102", 64
  %".130" = mul i64 %".112", 4
  %".131" = add i64 %".129", %".130"
  %".132" = add i64 %".131", %".127"
  %".133" = getelementptr inbounds float, ptr %".18", i64 %".132"
  %".134" = load <16 x float>, ptr %".133", align 4
  %".135" = mul i64 %"i.3", 4
  %".136" = add i64 %".135", %".128"
  %".137" = getelementptr inbounds float, ptr %".82", i64 %".136"
  store <16 x float> %".134", ptr %".137", align 4
  %".139" = add i64 %"i.4", 16
  br label %"loop.4"
done.4:
  br label %"loop.5"
loop.5:
  %"i.5" = phi  i64 [%".123", %"done.4"], [%".156", %"body.5"]
  %".142" = icmp slt i64 %"i.5", %".121"
  br i1 %".142", label %"body.5", label %"done.5"
body.5:
  %".144" = add i64 %".122", %"i.5"
  %".145" = add i64 %".115", %"i.5"
  %".146" = mul i64 %".102", 64
  %".147" = mul i64 %".112", 4
  %".148" = add i64 %".146", %".147"
  %".149" = add i64 %".148", %".144"
  %".150" = getelementptr inbounds float, ptr %".18", i64 %".149"
  %".151" = load float, ptr %".150", align 4
  %".152" = mul i64 %"i.3", 4
  %".153" = add i64 %".152", %".145"
  %".154" = getelementptr inbounds float, ptr %".82", i64 %".153"
  store float %".151", ptr %".154", align 4
  %".156" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  %".158" = add i64 %"i.3", 1
  br label %"loop.3"
then.1:
  br label %"loop.6"
end.1:
  %".276" = select  i1 %".189", ptr %".194", ptr %".195"
  %".277" = trunc i64 %".14" to i32
  %".278" = trunc i64 %".13" to i32
  %".279" = trunc i64 %"i" to i32
  %".280" = sext i32 %".277" to i64
  %".281" = sext i32 %".278" to i64
  %".282" = mul i64 %".281", 4
  %".283" = sext i32 0 to i64
  %".284" = mul i64 %".283", 4
  %".285" = mul i64 %".280", 32
  %".286" = mul i64 %".282", 4
  %".287" = add i64 %".285", %".286"
  %".288" = add i64 %".287", %".284"
  %".289" = getelementptr float, ptr %".22", i64 %".288"
  %".290" = trunc i64 %".14" to i32
  %".291" = trunc i64 %".13" to i32
  %".292" = trunc i64 %"i" to i32
  %".293" = sext i32 %".290" to i64
  %".294" = sext i32 0 to i64
  %".295" = sext i32 %".291" to i64
  %".296" = mul i64 %".295", 4
  %".297" = mul i64 %".293", 8
  %".298" = mul i64 %".294", 8
  %".299" = add i64 %".297", %".298"
  %".300" = add i64 %".299", %".296"
  %".301" = getelementptr float, ptr %".24", i64 %".300"
  %".302" = icmp eq i32 %".34", 0
  %".303" = zext i1 %".302" to i32
  %".304" = sext i32 %".303" to i64
  %".305" = icmp slt i64 %".304", 0
  %".306" = select  i1 %".305", i64 0, i64 %".304"
  switch i64 %".306", label %"case.1" [i64 0, label %"case.0"]
loop.6:
  %"i.6" = phi  i64 [0, %"then.1"], [%".204", %"body.6"]
  %".199" = icmp slt i64 %"i.6", 8
  br i1 %".199", label %"body.6", label %"done.6"
body.6:
  %".201" = mul i64 %"i.6", 4
  %".202" = getelementptr inbounds float, ptr %".195", i64 %".201"
  store <4 x float> splat (float 0x7ff8000000000000), ptr %".202", align 4
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
  %"i.7" = phi  i64 [%".208", %"done.6"], [%".273", %"done.8"]
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
  %"i.8" = phi  i64 [%".218", %"body.7"], [%".271", %"done.10"]
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
  %".232" = icmp sgt i64 %".231", %".228"
  %".233" = sub i64 %".231", %".228"
  %".234" = select  i1 %".232", i64 %".233", i64 0
  %".235" = add i64 %".188", %".228"
  %".236" = and i64 %".234", -16
  br label %"loop.9"
done.8:
  %".273" = add i64 %"i.7", 1
  br label %"loop.7"
loop.9:
  %"i.9" = phi  i64 [0, %"body.8"], [%".252", %"body.9"]
  %".238" = icmp slt i64 %"i.9", %".236"
  br i1 %".238", label %"body.9", label %"done.9"
body.9:
  %".240" = add i64 %".235", %"i.9"
  %".241" = add i64 %".228", %"i.9"
  %".242" = mul i64 %".215", 64
  %".243" = mul i64 %".225", 4
  %".244" = add i64 %".242", %".243"
  %".245" = add i64 %".244", %".240"
  %".246" = getelementptr inbounds float, ptr %".20", i64 %".245"
  %".247" = load <16 x float>, ptr %".246", align 4
  %".248" = mul i64 %"i.8", 4
  %".249" = add i64 %".248", %".241"
  %".250" = getelementptr inbounds float, ptr %".195", i64 %".249"
  store <16 x float> %".247", ptr %".250", align 4
  %".252" = add i64 %"i.9", 16
  br label %"loop.9"
done.9:
  br label %"loop.10"
loop.10:
  %"i.10" = phi  i64 [%".236", %"done.9"], [%".269", %"body.10"]
  %".255" = icmp slt i64 %"i.10", %".234"
  br i1 %".255", label %"body.10", label %"done.10"
body.10:
  %".257" = add i64 %".235", %"i.10"
  %".258" = add i64 %".228", %"i.10"
  %".259" = mul i64 %".215", 64
  %".260" = mul i64 %".225", 4
  %".261" = add i64 %".259", %".260"
  %".262" = add i64 %".261", %".257"
  %".263" = getelementptr inbounds float, ptr %".20", i64 %".262"
  %".264" = load float, ptr %".263", align 4
  %".265" = mul i64 %"i.8", 4
  %".266" = add i64 %".265", %".258"
  %".267" = getelementptr inbounds float, ptr %".195", i64 %".266"
  store float %".264", ptr %".267", align 4
  %".269" = add i64 %"i.10", 1
  br label %"loop.10"
done.10:
  %".271" = add i64 %"i.8", 1
  br label %"loop.8"
switch.done:
  %".355" = mul i32 %".33", 4
  %".356" = add i32 %".355", 3
  %".357" = mul i32 %".34", 8
  %".358" = icmp sle i32 %".357", %".356"
  %".359" = zext i1 %".358" to i32
  %".360" = sext i32 %".359" to i64
  %".361" = icmp slt i64 %".360", 0
  %".362" = select  i1 %".361", i64 0, i64 %".360"
  switch i64 %".362", label %"case.1.1" [i64 0, label %"case.0.1"]
case.0:
  br label %"switch.done"
case.1:
  br label %"loop.11"
loop.11:
  %"i.11" = phi  i64 [0, %"case.1"], [%".334", %"body.11"]
  %".310" = icmp slt i64 %"i.11", 4
  br i1 %".310", label %"body.11", label %"done.11"
body.11:
  %".312" = getelementptr inbounds float, ptr %".50", i64 %"i.11"
  %".313" = getelementptr inbounds float, ptr %".50", i64 %"i.11"
  %".314" = load float, ptr %".313", align 4
  %".315" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".314", i32 0
  %".316" = add i64 4, %"i.11"
  %".317" = getelementptr inbounds float, ptr %".50", i64 %".316"
  %".318" = load float, ptr %".317", align 4
  %".319" = insertelement <4 x float> %".315", float %".318", i32 1
  %".320" = add i64 8, %"i.11"
  %".321" = getelementptr inbounds float, ptr %".50", i64 %".320"
  %".322" = load float, ptr %".321", align 4
  %".323" = insertelement <4 x float> %".319", float %".322", i32 2
  %".324" = add i64 12, %"i.11"
  %".325" = getelementptr inbounds float, ptr %".50", i64 %".324"
  %".326" = load float, ptr %".325", align 4
  %".327" = insertelement <4 x float> %".323", float %".326", i32 3
  %".328" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x3fe0000000000000, i32 0
  %".329" = shufflevector <4 x float> %".328", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".330" = fmul <4 x float> %".327", %".329"
  %".331" = mul i64 %"i.11", 4
  %".332" = getelementptr inbounds float, ptr %".25", i64 %".331"
  store <4 x float> %".330", ptr %".332", align 4
  %".334" = add i64 %"i.11", 1
  br label %"loop.11"
done.11:
  %".336" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc630000000000000, i32 0
  %".337" = shufflevector <4 x float> %".336", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".338" = getelementptr inbounds float, ptr %".26", i64 0
  store <4 x float> %".337", ptr %".338", align 4
  %".340" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".341" = shufflevector <4 x float> %".340", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".342" = getelementptr inbounds float, ptr %".27", i64 0
  store <4 x float> %".341", ptr %".342", align 4
  br label %"loop.12"
loop.12:
  %"i.12" = phi  i64 [0, %"done.11"], [%".352", %"body.12"]
  %".345" = icmp slt i64 %"i.12", 4
  br i1 %".345", label %"body.12", label %"done.12"
body.12:
  %".347" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".348" = shufflevector <4 x float> %".347", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".349" = mul i64 %"i.12", 4
  %".350" = getelementptr inbounds float, ptr %".28", i64 %".349"
  store <4 x float> %".348", ptr %".350", align 4
  %".352" = add i64 %"i.12", 1
  br label %"loop.12"
done.12:
  br label %"switch.done"
switch.done.1:
  %".656" = icmp eq i32 %".34", 1
  %".657" = zext i1 %".656" to i32
  %".658" = sext i32 %".657" to i64
  %".659" = icmp slt i64 %".658", 0
  %".660" = select  i1 %".659", i64 0, i64 %".658"
  switch i64 %".660", label %"case.1.2" [i64 0, label %"case.0.2"]
case.0.1:
  br label %"switch.done.1"
case.1.1:
  %".365" = getelementptr i8, ptr %".3", i64 512
  %".366" = getelementptr i8, ptr %".3", i64 640
  br label %"loop.13"
loop.13:
  %"i.13" = phi  i64 [0, %"case.1.1"], [%".459", %"k.done"]
  %".368" = icmp slt i64 %"i.13", 4
  br i1 %".368", label %"body.13", label %"done.13"
body.13:
  br label %"k"
done.13:
  %".461" = getelementptr i8, ptr %".3", i64 1152
  %".462" = getelementptr i8, ptr %".3", i64 1216
  store <4 x float> splat (float 0xfff0000000000000), <4 x float>* %".463"
  br label %"loop.14"
k:
  %".371" = phi  i64 [0, %"body.13"], [%".434", %"k.body"]
  %".372" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".391", %"k.body"]
  %".373" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".397", %"k.body"]
  %".374" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".403", %"k.body"]
  %".375" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".409", %"k.body"]
  %".376" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".415", %"k.body"]
  %".377" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".421", %"k.body"]
  %".378" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".427", %"k.body"]
  %".379" = phi  <16 x float> [splat (float              0x0), %"body.13"], [%".433", %"k.body"]
  %".380" = icmp slt i64 %".371", 4
  br i1 %".380", label %"k.body", label %"k.done"
k.body:
  %".382" = mul i64 %".371", 4
  %".383" = add i64 %".382", %"i.13"
  %".384" = getelementptr inbounds float, ptr %".25", i64 %".383"
  %".385" = load <4 x float>, ptr %".384", align 4
  %".386" = shufflevector <4 x float> %".385", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".387" = getelementptr inbounds float, ptr %".163", i64 %".371"
  %".388" = load float, ptr %".387", align 4
  %".389" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".388", i32 0
  %".390" = shufflevector <16 x float> %".389", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".391" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".390", <16 x float> %".386", <16 x float> %".372")
  %".392" = add i64 4, %".371"
  %".393" = getelementptr inbounds float, ptr %".163", i64 %".392"
  %".394" = load float, ptr %".393", align 4
  %".395" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".394", i32 0
  %".396" = shufflevector <16 x float> %".395", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".397" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".396", <16 x float> %".386", <16 x float> %".373")
  %".398" = add i64 8, %".371"
  %".399" = getelementptr inbounds float, ptr %".163", i64 %".398"
  %".400" = load float, ptr %".399", align 4
  %".401" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".400", i32 0
  %".402" = shufflevector <16 x float> %".401", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".403" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".402", <16 x float> %".386", <16 x float> %".374")
  %".404" = add i64 12, %".371"
  %".405" = getelementptr inbounds float, ptr %".163", i64 %".404"
  %".406" = load float, ptr %".405", align 4
  %".407" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".406", i32 0
  %".408" = shufflevector <16 x float> %".407", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".409" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".408", <16 x float> %".386", <16 x float> %".375")
  %".410" = add i64 16, %".371"
  %".411" = getelementptr inbounds float, ptr %".163", i64 %".410"
  %".412" = load float, ptr %".411", align 4
  %".413" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".412", i32 0
  %".414" = shufflevector <16 x float> %".413", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".415" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".414", <16 x float> %".386", <16 x float> %".376")
  %".416" = add i64 20, %".371"
  %".417" = getelementptr inbounds float, ptr %".163", i64 %".416"
  %".418" = load float, ptr %".417", align 4
  %".419" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".418", i32 0
  %".420" = shufflevector <16 x float> %".419", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".421" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".420", <16 x float> %".386", <16 x float> %".377")
  %".422" = add i64 24, %".371"
  %".423" = getelementptr inbounds float, ptr %".163", i64 %".422"
  %".424" = load float, ptr %".423", align 4
  %".425" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".424", i32 0
  %".426" = shufflevector <16 x float> %".425", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".427" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".426", <16 x float> %".386", <16 x float> %".378")
  %".428" = add i64 28, %".371"
  %".429" = getelementptr inbounds float, ptr %".163", i64 %".428"
  %".430" = load float, ptr %".429", align 4
  %".431" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".430", i32 0
  %".432" = shufflevector <16 x float> %".431", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".433" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".432", <16 x float> %".386", <16 x float> %".379")
  %".434" = add i64 %".371", 1
  br label %"k"
k.done:
  %".436" = getelementptr inbounds float, ptr %".365", i64 %"i.13"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".372", ptr %".436", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".438" = add i64 4, %"i.13"
  %".439" = getelementptr inbounds float, ptr %".365", i64 %".438"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".373", ptr %".439", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".441" = add i64 8, %"i.13"
  %".442" = getelementptr inbounds float, ptr %".365", i64 %".441"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".374", ptr %".442", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".444" = add i64 12, %"i.13"
  %".445" = getelementptr inbounds float, ptr %".365", i64 %".444"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".375", ptr %".445", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".447" = add i64 16, %"i.13"
  %".448" = getelementptr inbounds float, ptr %".365", i64 %".447"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".376", ptr %".448", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".450" = add i64 20, %"i.13"
  %".451" = getelementptr inbounds float, ptr %".365", i64 %".450"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".377", ptr %".451", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".453" = add i64 24, %"i.13"
  %".454" = getelementptr inbounds float, ptr %".365", i64 %".453"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".378", ptr %".454", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".456" = add i64 28, %"i.13"
  %".457" = getelementptr inbounds float, ptr %".365", i64 %".456"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".379", ptr %".457", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".459" = add i64 %"i.13", 4
  br label %"loop.13"
loop.14:
  %"i.14" = phi  i64 [0, %"done.13"], [%".495", %"body.14"]
  %".466" = icmp slt i64 %"i.14", 8
  br i1 %".466", label %"body.14", label %"done.14"
body.14:
  %".468" = load <4 x float>, <4 x float>* %".463"
  %".469" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".357", i32 0
  %".470" = shufflevector <4 x i32> %".469", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".471" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 %"i.14", i32 0
  %".472" = shufflevector <4 x i64> %".471", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".473" = add <4 x i64> %".472", <i64 0, i64 0, i64 0, i64 0>
  %".474" = trunc <4 x i64> %".473" to <4 x i32>
  %".475" = add <4 x i32> %".470", %".474"
  %".476" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".355", i32 0
  %".477" = shufflevector <4 x i32> %".476", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".478" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 0, i32 0
  %".479" = shufflevector <4 x i64> %".478", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".480" = add <4 x i64> %".479", <i64 0, i64 1, i64 2, i64 3>
  %".481" = trunc <4 x i64> %".480" to <4 x i32>
  %".482" = add <4 x i32> %".477", %".481"
  %".483" = icmp sle <4 x i32> %".475", %".482"
  %".484" = mul i64 %"i.14", 4
  %".485" = getelementptr inbounds float, ptr %".365", i64 %".484"
  %".486" = load <4 x float>, ptr %".485", align 4
  %".487" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc630000000000000, i32 0
  %".488" = shufflevector <4 x float> %".487", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".489" = select  <4 x i1> %".483", <4 x float> %".486", <4 x float> %".488"
  %".490" = mul i64 %"i.14", 4
  %".491" = getelementptr inbounds float, ptr %".462", i64 %".490"
  store <4 x float> %".489", ptr %".491", align 4
  %".493" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".489", <4 x float> %".468")
  store <4 x float> %".493", <4 x float>* %".463"
  %".495" = add i64 %"i.14", 1
  br label %"loop.14"
done.14:
  %".497" = load <4 x float>, <4 x float>* %".463"
  %".498" = getelementptr inbounds float, ptr %".461", i64 0
  store <4 x float> %".497", ptr %".498", align 4
  %".500" = getelementptr i8, ptr %".3", i64 1344
  %".501" = getelementptr i8, ptr %".3", i64 1408
  %".502" = getelementptr inbounds float, ptr %".26", i64 0
  %".503" = load <4 x float>, ptr %".502", align 4
  %".504" = getelementptr inbounds float, ptr %".461", i64 0
  %".505" = load <4 x float>, ptr %".504", align 4
  %".506" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".503", <4 x float> %".505")
  %".507" = getelementptr inbounds float, ptr %".500", i64 0
  store <4 x float> %".506", ptr %".507", align 4
  %".509" = fsub <4 x float> %".503", %".506"
  %".510" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".509")
  %".511" = getelementptr inbounds float, ptr %".501", i64 0
  store <4 x float> %".510", ptr %".511", align 4
  %".513" = getelementptr i8, ptr %".3", i64 1472
  %".514" = getelementptr i8, ptr %".3", i64 1536
  store <4 x float> splat (float              0x0), <4 x float>* %".515"
  br label %"loop.15"
loop.15:
  %"i.15" = phi  i64 [0, %"done.14"], [%".533", %"body.15"]
  %".518" = icmp slt i64 %"i.15", 8
  br i1 %".518", label %"body.15", label %"done.15"
body.15:
  %".520" = load <4 x float>, <4 x float>* %".515"
  %".521" = mul i64 %"i.15", 4
  %".522" = getelementptr inbounds float, ptr %".462", i64 %".521"
  %".523" = load <4 x float>, ptr %".522", align 4
  %".524" = getelementptr inbounds float, ptr %".500", i64 0
  %".525" = load <4 x float>, ptr %".524", align 4
  %".526" = fsub <4 x float> %".523", %".525"
  %".527" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".526")
  %".528" = mul i64 %"i.15", 4
  %".529" = getelementptr inbounds float, ptr %".514", i64 %".528"
  store <4 x float> %".527", ptr %".529", align 4
  %".531" = fadd <4 x float> %".520", %".527"
  store <4 x float> %".531", <4 x float>* %".515"
  %".533" = add i64 %"i.15", 1
  br label %"loop.15"
done.15:
  %".535" = load <4 x float>, <4 x float>* %".515"
  %".536" = getelementptr inbounds float, ptr %".513", i64 0
  store <4 x float> %".535", ptr %".536", align 4
  %".538" = getelementptr inbounds float, ptr %".27", i64 0
  %".539" = load <4 x float>, ptr %".538", align 4
  %".540" = getelementptr inbounds float, ptr %".501", i64 0
  %".541" = load <4 x float>, ptr %".540", align 4
  %".542" = fmul <4 x float> %".539", %".541"
  %".543" = getelementptr inbounds float, ptr %".513", i64 0
  %".544" = load <4 x float>, ptr %".543", align 4
  %".545" = fadd <4 x float> %".542", %".544"
  %".546" = getelementptr inbounds float, ptr %".27", i64 0
  store <4 x float> %".545", ptr %".546", align 4
  br label %"loop.16"
loop.16:
  %"i.16" = phi  i64 [0, %"done.15"], [%".560", %"body.16"]
  %".549" = icmp slt i64 %"i.16", 4
  br i1 %".549", label %"body.16", label %"done.16"
body.16:
  %".551" = mul i64 %"i.16", 4
  %".552" = getelementptr inbounds float, ptr %".28", i64 %".551"
  %".553" = load <4 x float>, ptr %".552", align 4
  %".554" = getelementptr inbounds float, ptr %".501", i64 0
  %".555" = load <4 x float>, ptr %".554", align 4
  %".556" = fmul <4 x float> %".553", %".555"
  %".557" = mul i64 %"i.16", 4
  %".558" = getelementptr inbounds float, ptr %".28", i64 %".557"
  store <4 x float> %".556", ptr %".558", align 4
  %".560" = add i64 %"i.16", 1
  br label %"loop.16"
done.16:
  %".562" = getelementptr i8, ptr %".3", i64 1664
  br label %"loop.17"
loop.17:
  %"i.17" = phi  i64 [0, %"done.16"], [%".649", %"k.done.1"]
  %".564" = icmp slt i64 %"i.17", 4
  br i1 %".564", label %"body.17", label %"done.17"
body.17:
  %".566" = getelementptr inbounds float, ptr %".28", i64 %"i.17"
  call void @"llvm.prefetch.p0"(ptr %".566", i32 0, i32 3, i32 1)
  %".568" = add i64 4, %"i.17"
  %".569" = getelementptr inbounds float, ptr %".28", i64 %".568"
  call void @"llvm.prefetch.p0"(ptr %".569", i32 0, i32 3, i32 1)
  %".571" = add i64 8, %"i.17"
  %".572" = getelementptr inbounds float, ptr %".28", i64 %".571"
  call void @"llvm.prefetch.p0"(ptr %".572", i32 0, i32 3, i32 1)
  %".574" = add i64 12, %"i.17"
  %".575" = getelementptr inbounds float, ptr %".28", i64 %".574"
  call void @"llvm.prefetch.p0"(ptr %".575", i32 0, i32 3, i32 1)
  br label %"k.1"
done.17:
  %".651" = getelementptr inbounds float, ptr %".500", i64 0
  %".652" = load <4 x float>, ptr %".651", align 4
  %".653" = getelementptr inbounds float, ptr %".26", i64 0
  store <4 x float> %".652", ptr %".653", align 4
  br label %"switch.done.1"
k.1:
  %".578" = phi  i64 [0, %"body.17"], [%".617", %"k.body.1"]
  %".579" = phi  <16 x float> [splat (float              0x0), %"body.17"], [%".595", %"k.body.1"]
  %".580" = phi  <16 x float> [splat (float              0x0), %"body.17"], [%".602", %"k.body.1"]
  %".581" = phi  <16 x float> [splat (float              0x0), %"body.17"], [%".609", %"k.body.1"]
  %".582" = phi  <16 x float> [splat (float              0x0), %"body.17"], [%".616", %"k.body.1"]
  %".583" = icmp slt i64 %".578", 8
  br i1 %".583", label %"k.body.1", label %"k.done.1"
k.body.1:
  %".585" = mul i64 %".578", 4
  %".586" = add i64 %".585", %"i.17"
  %".587" = getelementptr inbounds float, ptr %".514", i64 %".586"
  %".588" = load <4 x float>, ptr %".587", align 4
  %".589" = shufflevector <4 x float> %".588", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".590" = mul i64 %".578", 4
  %".591" = getelementptr inbounds float, ptr %".276", i64 %".590"
  %".592" = load float, ptr %".591", align 4
  %".593" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".592", i32 0
  %".594" = shufflevector <16 x float> %".593", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".595" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".594", <16 x float> %".589", <16 x float> %".579")
  %".596" = mul i64 %".578", 4
  %".597" = add i64 %".596", 1
  %".598" = getelementptr inbounds float, ptr %".276", i64 %".597"
  %".599" = load float, ptr %".598", align 4
  %".600" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".599", i32 0
  %".601" = shufflevector <16 x float> %".600", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".602" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".601", <16 x float> %".589", <16 x float> %".580")
  %".603" = mul i64 %".578", 4
  %".604" = add i64 %".603", 2
  %".605" = getelementptr inbounds float, ptr %".276", i64 %".604"
  %".606" = load float, ptr %".605", align 4
  %".607" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".606", i32 0
  %".608" = shufflevector <16 x float> %".607", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".609" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".608", <16 x float> %".589", <16 x float> %".581")
  %".610" = mul i64 %".578", 4
  %".611" = add i64 %".610", 3
  %".612" = getelementptr inbounds float, ptr %".276", i64 %".611"
  %".613" = load float, ptr %".612", align 4
  %".614" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".613", i32 0
  %".615" = shufflevector <16 x float> %".614", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".616" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".615", <16 x float> %".589", <16 x float> %".582")
  %".617" = add i64 %".578", 1
  br label %"k.1"
k.done.1:
  %".619" = getelementptr inbounds float, ptr %".28", i64 %"i.17"
  %".620" = load <4 x float>, ptr %".619", align 4
  %".621" = shufflevector <4 x float> %".620", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".622" = fadd <16 x float> %".621", %".579"
  %".623" = getelementptr inbounds float, ptr %".28", i64 %"i.17"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".622", ptr %".623", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".625" = add i64 4, %"i.17"
  %".626" = getelementptr inbounds float, ptr %".28", i64 %".625"
  %".627" = load <4 x float>, ptr %".626", align 4
  %".628" = shufflevector <4 x float> %".627", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".629" = fadd <16 x float> %".628", %".580"
  %".630" = add i64 4, %"i.17"
  %".631" = getelementptr inbounds float, ptr %".28", i64 %".630"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".629", ptr %".631", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".633" = add i64 8, %"i.17"
  %".634" = getelementptr inbounds float, ptr %".28", i64 %".633"
  %".635" = load <4 x float>, ptr %".634", align 4
  %".636" = shufflevector <4 x float> %".635", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".637" = fadd <16 x float> %".636", %".581"
  %".638" = add i64 8, %"i.17"
  %".639" = getelementptr inbounds float, ptr %".28", i64 %".638"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".637", ptr %".639", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".641" = add i64 12, %"i.17"
  %".642" = getelementptr inbounds float, ptr %".28", i64 %".641"
  %".643" = load <4 x float>, ptr %".642", align 4
  %".644" = shufflevector <4 x float> %".643", <4 x float> splat (float              0x0), <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4, i32 4>
  %".645" = fadd <16 x float> %".644", %".582"
  %".646" = add i64 12, %"i.17"
  %".647" = getelementptr inbounds float, ptr %".28", i64 %".646"
  call void @"llvm.masked.store.v16f32.p0"(<16 x float> %".645", ptr %".647", i32 4, <16 x i1> <i1 1, i1 1, i1 1, i1 1, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0, i1 0>)
  %".649" = add i64 %"i.17", 4
  br label %"loop.17"
switch.done.2:
  %".712" = add i64 %"i", 1
  br label %"loop"
case.0.2:
  br label %"switch.done.2"
case.1.2:
  br label %"loop.18"
loop.18:
  %"i.18" = phi  i64 [0, %"case.1.2"], [%".695", %"body.18"]
  %".664" = icmp slt i64 %"i.18", 4
  br i1 %".664", label %"body.18", label %"done.18"
body.18:
  %".666" = getelementptr inbounds float, ptr %".26", i64 %"i.18"
  %".667" = load float, ptr %".666", align 4
  %".668" = fcmp ogt float %".667", 0xc620000000000000
  %".669" = getelementptr inbounds float, ptr %".27", i64 %"i.18"
  %".670" = load float, ptr %".669", align 4
  %".671" = fdiv float 0x3ff0000000000000, %".670"
  %".672" = select  i1 %".668", float %".671", float              0x0
  %".673" = getelementptr inbounds float, ptr %".28", i64 %"i.18"
  %".674" = getelementptr inbounds float, ptr %".28", i64 %"i.18"
  %".675" = load float, ptr %".674", align 4
  %".676" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".675", i32 0
  %".677" = add i64 4, %"i.18"
  %".678" = getelementptr inbounds float, ptr %".28", i64 %".677"
  %".679" = load float, ptr %".678", align 4
  %".680" = insertelement <4 x float> %".676", float %".679", i32 1
  %".681" = add i64 8, %"i.18"
  %".682" = getelementptr inbounds float, ptr %".28", i64 %".681"
  %".683" = load float, ptr %".682", align 4
  %".684" = insertelement <4 x float> %".680", float %".683", i32 2
  %".685" = add i64 12, %"i.18"
  %".686" = getelementptr inbounds float, ptr %".28", i64 %".685"
  %".687" = load float, ptr %".686", align 4
  %".688" = insertelement <4 x float> %".684", float %".687", i32 3
  %".689" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".672", i32 0
  %".690" = shufflevector <4 x float> %".689", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".691" = fmul <4 x float> %".688", %".690"
  %".692" = mul i64 %"i.18", 4
  %".693" = getelementptr inbounds float, ptr %".289", i64 %".692"
  store <4 x float> %".691", ptr %".693", align 4
  %".695" = add i64 %"i.18", 1
  br label %"loop.18"
done.18:
  %".697" = getelementptr inbounds float, ptr %".26", i64 0
  %".698" = load <4 x float>, ptr %".697", align 4
  %".699" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0xc620000000000000, i32 0
  %".700" = shufflevector <4 x float> %".699", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".701" = fcmp ogt <4 x float> %".698", %".700"
  %".702" = getelementptr inbounds float, ptr %".27", i64 0
  %".703" = load <4 x float>, ptr %".702", align 4
  %".704" = call <4 x float> @"tilewright.log.v4f32"(<4 x float> %".703")
  %".705" = fadd <4 x float> %".698", %".704"
  %".706" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x4630000000000000, i32 0
  %".707" = shufflevector <4 x float> %".706", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".708" = select  <4 x i1> %".701", <4 x float> %".705", <4 x float> %".707"
  %".709" = getelementptr inbounds float, ptr %".301", i64 0
  store <4 x float> %".708", ptr %".709", align 4
  br label %"switch.done.2"
}
