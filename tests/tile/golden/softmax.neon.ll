; neon
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".141" = alloca <4 x float>
  %".142" = alloca <4 x float>
  %".143" = alloca <4 x float>
  %".144" = alloca <4 x float>
  %".236" = alloca <4 x float>
  %".237" = alloca <4 x float>
  %".238" = alloca <4 x float>
  %".239" = alloca <4 x float>
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".2", i64 0
  %".7" = load i64, ptr %".6"
  %".8" = urem i64 %".4", %".7"
  %".9" = udiv i64 %".4", %".7"
  %".10" = getelementptr ptr, ptr %".1", i64 0
  %".11" = load ptr, ptr %".10"
  %".12" = getelementptr ptr, ptr %".1", i64 1
  %".13" = load ptr, ptr %".12"
  %".14" = trunc i64 %".8" to i32
  %".15" = trunc i64 %".7" to i32
  %".16" = trunc i64 %".8" to i32
  %".17" = sext i32 %".16" to i64
  %".18" = sext i32 0 to i64
  %".19" = mul i64 %".17", 4
  %".20" = mul i64 %".18", 16
  %".21" = icmp ule i64 %".19", 4
  %".22" = icmp ule i64 %".20", 0
  %".23" = and i1 %".21", %".22"
  %".24" = mul i64 %".19", 16
  %".25" = add i64 %".24", %".20"
  %".26" = getelementptr float, ptr %".11", i64 %".25"
  %".27" = getelementptr i8, ptr %".3", i64 0
  %".28" = xor i1 %".23", -1
  br i1 %".28", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".77" = select  i1 %".23", ptr %".26", ptr %".27"
  %".78" = trunc i64 %".8" to i32
  %".79" = sext i32 %".78" to i64
  %".80" = sext i32 0 to i64
  %".81" = mul i64 %".79", 4
  %".82" = mul i64 %".80", 16
  %".83" = icmp ule i64 %".81", 4
  %".84" = icmp ule i64 %".82", 0
  %".85" = and i1 %".83", %".84"
  %".86" = mul i64 %".81", 16
  %".87" = add i64 %".86", %".82"
  %".88" = getelementptr float, ptr %".13", i64 %".87"
  %".89" = getelementptr i8, ptr %".3", i64 256
  %".90" = xor i1 %".85", -1
  br i1 %".90", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".42", %"done.1"]
  %".31" = icmp slt i64 %"i", 4
  br i1 %".31", label %"body", label %"done"
body:
  br label %"loop.1"
done:
  %".44" = icmp slt i64 %".19", 0
  %".45" = sub i64 0, %".19"
  %".46" = select  i1 %".44", i64 %".45", i64 0
  %".47" = sub i64 8, %".19"
  %".48" = icmp slt i64 %".47", 4
  %".49" = select  i1 %".48", i64 %".47", i64 4
  %".50" = icmp slt i64 %".20", 0
  %".51" = sub i64 0, %".20"
  %".52" = select  i1 %".50", i64 %".51", i64 0
  %".53" = sub i64 16, %".20"
  %".54" = icmp slt i64 %".53", 16
  %".55" = select  i1 %".54", i64 %".53", i64 16
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".40", %"body.1"]
  %".34" = icmp slt i64 %"i.1", 16
  br i1 %".34", label %"body.1", label %"done.1"
body.1:
  %".36" = mul i64 %"i", 16
  %".37" = add i64 %".36", %"i.1"
  %".38" = getelementptr inbounds float, ptr %".27", i64 %".37"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".38", align 4
  %".40" = add i64 %"i.1", 4
  br label %"loop.1"
done.1:
  %".42" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [%".46", %"done"], [%".74", %"done.3"]
  %".57" = icmp slt i64 %"i.2", %".49"
  br i1 %".57", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".52", %"body.2"], [%".72", %"body.3"]
  %".60" = icmp slt i64 %"i.3", %".55"
  br i1 %".60", label %"body.3", label %"done.3"
body.3:
  %".62" = add i64 %".19", %"i.2"
  %".63" = add i64 %".20", %"i.3"
  %".64" = mul i64 %".62", 16
  %".65" = add i64 %".64", %".63"
  %".66" = getelementptr inbounds float, ptr %".11", i64 %".65"
  %".67" = load float, ptr %".66", align 4
  %".68" = mul i64 %"i.2", 16
  %".69" = add i64 %".68", %"i.3"
  %".70" = getelementptr inbounds float, ptr %".27", i64 %".69"
  store float %".67", ptr %".70", align 4
  %".72" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".74" = add i64 %"i.2", 1
  br label %"loop.2"
then.1:
  br label %"loop.4"
end.1:
  %".139" = select  i1 %".85", ptr %".88", ptr %".89"
  %".140" = getelementptr i8, ptr %".3", i64 512
  br label %"loop.8"
loop.4:
  %"i.4" = phi  i64 [0, %"then.1"], [%".104", %"done.5"]
  %".93" = icmp slt i64 %"i.4", 4
  br i1 %".93", label %"body.4", label %"done.4"
body.4:
  br label %"loop.5"
done.4:
  %".106" = icmp slt i64 %".81", 0
  %".107" = sub i64 0, %".81"
  %".108" = select  i1 %".106", i64 %".107", i64 0
  %".109" = sub i64 8, %".81"
  %".110" = icmp slt i64 %".109", 4
  %".111" = select  i1 %".110", i64 %".109", i64 4
  %".112" = icmp slt i64 %".82", 0
  %".113" = sub i64 0, %".82"
  %".114" = select  i1 %".112", i64 %".113", i64 0
  %".115" = sub i64 16, %".82"
  %".116" = icmp slt i64 %".115", 16
  %".117" = select  i1 %".116", i64 %".115", i64 16
  br label %"loop.6"
loop.5:
  %"i.5" = phi  i64 [0, %"body.4"], [%".102", %"body.5"]
  %".96" = icmp slt i64 %"i.5", 16
  br i1 %".96", label %"body.5", label %"done.5"
body.5:
  %".98" = mul i64 %"i.4", 16
  %".99" = add i64 %".98", %"i.5"
  %".100" = getelementptr inbounds float, ptr %".89", i64 %".99"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".100", align 4
  %".102" = add i64 %"i.5", 4
  br label %"loop.5"
done.5:
  %".104" = add i64 %"i.4", 1
  br label %"loop.4"
loop.6:
  %"i.6" = phi  i64 [%".108", %"done.4"], [%".136", %"done.7"]
  %".119" = icmp slt i64 %"i.6", %".111"
  br i1 %".119", label %"body.6", label %"done.6"
body.6:
  br label %"loop.7"
done.6:
  br label %"end.1"
loop.7:
  %"i.7" = phi  i64 [%".114", %"body.6"], [%".134", %"body.7"]
  %".122" = icmp slt i64 %"i.7", %".117"
  br i1 %".122", label %"body.7", label %"done.7"
body.7:
  %".124" = add i64 %".81", %"i.6"
  %".125" = add i64 %".82", %"i.7"
  %".126" = mul i64 %".124", 16
  %".127" = add i64 %".126", %".125"
  %".128" = getelementptr inbounds float, ptr %".13", i64 %".127"
  %".129" = load float, ptr %".128", align 4
  %".130" = mul i64 %"i.6", 16
  %".131" = add i64 %".130", %"i.7"
  %".132" = getelementptr inbounds float, ptr %".89", i64 %".131"
  store float %".129", ptr %".132", align 4
  %".134" = add i64 %"i.7", 1
  br label %"loop.7"
done.7:
  %".136" = add i64 %"i.6", 1
  br label %"loop.6"
loop.8:
  %"i.8" = phi  i64 [0, %"end.1"], [%".232", %"done.9"]
  %".146" = icmp slt i64 %"i.8", 4
  br i1 %".146", label %"body.8", label %"done.8"
body.8:
  store <4 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <4 x float>* %".141"
  store <4 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <4 x float>* %".142"
  store <4 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <4 x float>* %".143"
  store <4 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <4 x float>* %".144"
  br label %"loop.9"
done.8:
  %".234" = getelementptr i8, ptr %".3", i64 576
  %".235" = getelementptr i8, ptr %".3", i64 640
  br label %"loop.10"
loop.9:
  %"i.9" = phi  i64 [0, %"body.8"], [%".198", %"body.9"]
  %".153" = icmp slt i64 %"i.9", 16
  br i1 %".153", label %"body.9", label %"done.9"
body.9:
  %".155" = mul i64 %"i.8", 16
  %".156" = add i64 %".155", %"i.9"
  %".157" = getelementptr inbounds float, ptr %".77", i64 %".156"
  %".158" = load <4 x float>, ptr %".157", align 4
  %".159" = load <4 x float>, <4 x float>* %".141"
  %".160" = fcmp ogt <4 x float> %".159", %".158"
  %".161" = select  <4 x i1> %".160", <4 x float> %".159", <4 x float> %".158"
  %".162" = fcmp uno <4 x float> %".159", %".159"
  %".163" = select  <4 x i1> %".162", <4 x float> %".159", <4 x float> %".161"
  store <4 x float> %".163", <4 x float>* %".141"
  %".165" = add i64 %"i.9", 4
  %".166" = mul i64 %"i.8", 16
  %".167" = add i64 %".166", %".165"
  %".168" = getelementptr inbounds float, ptr %".77", i64 %".167"
  %".169" = load <4 x float>, ptr %".168", align 4
  %".170" = load <4 x float>, <4 x float>* %".142"
  %".171" = fcmp ogt <4 x float> %".170", %".169"
  %".172" = select  <4 x i1> %".171", <4 x float> %".170", <4 x float> %".169"
  %".173" = fcmp uno <4 x float> %".170", %".170"
  %".174" = select  <4 x i1> %".173", <4 x float> %".170", <4 x float> %".172"
  store <4 x float> %".174", <4 x float>* %".142"
  %".176" = add i64 %"i.9", 8
  %".177" = mul i64 %"i.8", 16
  %".178" = add i64 %".177", %".176"
  %".179" = getelementptr inbounds float, ptr %".77", i64 %".178"
  %".180" = load <4 x float>, ptr %".179", align 4
  %".181" = load <4 x float>, <4 x float>* %".143"
  %".182" = fcmp ogt <4 x float> %".181", %".180"
  %".183" = select  <4 x i1> %".182", <4 x float> %".181", <4 x float> %".180"
  %".184" = fcmp uno <4 x float> %".181", %".181"
  %".185" = select  <4 x i1> %".184", <4 x float> %".181", <4 x float> %".183"
  store <4 x float> %".185", <4 x float>* %".143"
  %".187" = add i64 %"i.9", 12
  %".188" = mul i64 %"i.8", 16
  %".189" = add i64 %".188", %".187"
  %".190" = getelementptr inbounds float, ptr %".77", i64 %".189"
  %".191" = load <4 x float>, ptr %".190", align 4
  %".192" = load <4 x float>, <4 x float>* %".144"
  %".193" = fcmp ogt <4 x float> %".192", %".191"
  %".194" = select  <4 x i1> %".193", <4 x float> %".192", <4 x float> %".191"
  %".195" = fcmp uno <4 x float> %".192", %".192"
  %".196" = select  <4 x i1> %".195", <4 x float> %".192", <4 x float> %".194"
  store <4 x float> %".196", <4 x float>* %".144"
  %".198" = add i64 %"i.9", 16
  br label %"loop.9"
done.9:
  %".200" = load <4 x float>, <4 x float>* %".141"
  %".201" = load <4 x float>, <4 x float>* %".142"
  %".202" = fcmp ogt <4 x float> %".200", %".201"
  %".203" = select  <4 x i1> %".202", <4 x float> %".200", <4 x float> %".201"
  %".204" = fcmp uno <4 x float> %".200", %".200"
  %".205" = select  <4 x i1> %".204", <4 x float> %".200", <4 x float> %".203"
  %".206" = load <4 x float>, <4 x float>* %".143"
  %".207" = fcmp ogt <4 x float> %".205", %".206"
  %".208" = select  <4 x i1> %".207", <4 x float> %".205", <4 x float> %".206"
  %".209" = fcmp uno <4 x float> %".205", %".205"
  %".210" = select  <4 x i1> %".209", <4 x float> %".205", <4 x float> %".208"
  %".211" = load <4 x float>, <4 x float>* %".144"
  %".212" = fcmp ogt <4 x float> %".210", %".211"
  %".213" = select  <4 x i1> %".212", <4 x float> %".210", <4 x float> %".211"
  %".214" = fcmp uno <4 x float> %".210", %".210"
  %".215" = select  <4 x i1> %".214", <4 x float> %".210", <4 x float> %".213"
  %".216" = shufflevector <4 x float> %".215", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".217" = shufflevector <4 x float> %".215", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".218" = fcmp ogt <2 x float> %".216", %".217"
  %".219" = select  <2 x i1> %".218", <2 x float> %".216", <2 x float> %".217"
  %".220" = fcmp uno <2 x float> %".216", %".216"
  %".221" = select  <2 x i1> %".220", <2 x float> %".216", <2 x float> %".219"
  %".222" = shufflevector <2 x float> %".221", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".223" = shufflevector <2 x float> %".221", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".224" = extractelement <1 x float> %".222", i32 0
  %".225" = extractelement <1 x float> %".223", i32 0
  %".226" = fcmp ogt float %".224", %".225"
  %".227" = select  i1 %".226", float %".224", float %".225"
  %".228" = fcmp uno float %".224", %".224"
  %".229" = select  i1 %".228", float %".224", float %".227"
  %".230" = getelementptr inbounds float, ptr %".140", i64 %"i.8"
  store float %".229", ptr %".230", align 4
  %".232" = add i64 %"i.8", 1
  br label %"loop.8"
loop.10:
  %"i.10" = phi  i64 [0, %"done.8"], [%".334", %"done.11"]
  %".241" = icmp slt i64 %"i.10", 4
  br i1 %".241", label %"body.10", label %"done.10"
body.10:
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".236"
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".237"
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".238"
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".239"
  %".247" = getelementptr inbounds float, ptr %".140", i64 %"i.10"
  %".248" = load float, ptr %".247", align 4
  br label %"loop.11"
done.10:
  br label %"loop.12"
loop.11:
  %"i.11" = phi  i64 [0, %"body.10"], [%".315", %"body.11"]
  %".250" = icmp slt i64 %"i.11", 16
  br i1 %".250", label %"body.11", label %"done.11"
body.11:
  %".252" = mul i64 %"i.10", 16
  %".253" = add i64 %".252", %"i.11"
  %".254" = getelementptr inbounds float, ptr %".77", i64 %".253"
  %".255" = load <4 x float>, ptr %".254", align 4
  %".256" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".248", i32 0
  %".257" = shufflevector <4 x float> %".256", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".258" = fsub <4 x float> %".255", %".257"
  %".259" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".258")
  %".260" = mul i64 %"i.10", 16
  %".261" = add i64 %".260", %"i.11"
  %".262" = getelementptr inbounds float, ptr %".235", i64 %".261"
  store <4 x float> %".259", ptr %".262", align 4
  %".264" = load <4 x float>, <4 x float>* %".236"
  %".265" = fadd <4 x float> %".264", %".259"
  store <4 x float> %".265", <4 x float>* %".236"
  %".267" = add i64 %"i.11", 4
  %".268" = mul i64 %"i.10", 16
  %".269" = add i64 %".268", %".267"
  %".270" = getelementptr inbounds float, ptr %".77", i64 %".269"
  %".271" = load <4 x float>, ptr %".270", align 4
  %".272" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".248", i32 0
  %".273" = shufflevector <4 x float> %".272", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".274" = fsub <4 x float> %".271", %".273"
  %".275" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".274")
  %".276" = mul i64 %"i.10", 16
  %".277" = add i64 %".276", %".267"
  %".278" = getelementptr inbounds float, ptr %".235", i64 %".277"
  store <4 x float> %".275", ptr %".278", align 4
  %".280" = load <4 x float>, <4 x float>* %".237"
  %".281" = fadd <4 x float> %".280", %".275"
  store <4 x float> %".281", <4 x float>* %".237"
  %".283" = add i64 %"i.11", 8
  %".284" = mul i64 %"i.10", 16
  %".285" = add i64 %".284", %".283"
  %".286" = getelementptr inbounds float, ptr %".77", i64 %".285"
  %".287" = load <4 x float>, ptr %".286", align 4
  %".288" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".248", i32 0
  %".289" = shufflevector <4 x float> %".288", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".290" = fsub <4 x float> %".287", %".289"
  %".291" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".290")
  %".292" = mul i64 %"i.10", 16
  %".293" = add i64 %".292", %".283"
  %".294" = getelementptr inbounds float, ptr %".235", i64 %".293"
  store <4 x float> %".291", ptr %".294", align 4
  %".296" = load <4 x float>, <4 x float>* %".238"
  %".297" = fadd <4 x float> %".296", %".291"
  store <4 x float> %".297", <4 x float>* %".238"
  %".299" = add i64 %"i.11", 12
  %".300" = mul i64 %"i.10", 16
  %".301" = add i64 %".300", %".299"
  %".302" = getelementptr inbounds float, ptr %".77", i64 %".301"
  %".303" = load <4 x float>, ptr %".302", align 4
  %".304" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".248", i32 0
  %".305" = shufflevector <4 x float> %".304", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".306" = fsub <4 x float> %".303", %".305"
  %".307" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".306")
  %".308" = mul i64 %"i.10", 16
  %".309" = add i64 %".308", %".299"
  %".310" = getelementptr inbounds float, ptr %".235", i64 %".309"
  store <4 x float> %".307", ptr %".310", align 4
  %".312" = load <4 x float>, <4 x float>* %".239"
  %".313" = fadd <4 x float> %".312", %".307"
  store <4 x float> %".313", <4 x float>* %".239"
  %".315" = add i64 %"i.11", 16
  br label %"loop.11"
done.11:
  %".317" = load <4 x float>, <4 x float>* %".236"
  %".318" = load <4 x float>, <4 x float>* %".237"
  %".319" = fadd <4 x float> %".317", %".318"
  %".320" = load <4 x float>, <4 x float>* %".238"
  %".321" = fadd <4 x float> %".319", %".320"
  %".322" = load <4 x float>, <4 x float>* %".239"
  %".323" = fadd <4 x float> %".321", %".322"
  %".324" = shufflevector <4 x float> %".323", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".325" = shufflevector <4 x float> %".323", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".326" = fadd <2 x float> %".324", %".325"
  %".327" = shufflevector <2 x float> %".326", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".328" = shufflevector <2 x float> %".326", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".329" = extractelement <1 x float> %".327", i32 0
  %".330" = extractelement <1 x float> %".328", i32 0
  %".331" = fadd float %".329", %".330"
  %".332" = getelementptr inbounds float, ptr %".234", i64 %"i.10"
  store float %".331", ptr %".332", align 4
  %".334" = add i64 %"i.10", 1
  br label %"loop.10"
loop.12:
  %"i.12" = phi  i64 [0, %"done.10"], [%".357", %"done.13"]
  %".337" = icmp slt i64 %"i.12", 4
  br i1 %".337", label %"body.12", label %"done.12"
body.12:
  %".339" = getelementptr inbounds float, ptr %".234", i64 %"i.12"
  %".340" = load float, ptr %".339", align 4
  br label %"loop.13"
done.12:
  br i1 %".90", label %"then.2", label %"end.2"
loop.13:
  %"i.13" = phi  i64 [0, %"body.12"], [%".355", %"body.13"]
  %".342" = icmp slt i64 %"i.13", 16
  br i1 %".342", label %"body.13", label %"done.13"
body.13:
  %".344" = mul i64 %"i.12", 16
  %".345" = add i64 %".344", %"i.13"
  %".346" = getelementptr inbounds float, ptr %".235", i64 %".345"
  %".347" = load <4 x float>, ptr %".346", align 4
  %".348" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".340", i32 0
  %".349" = shufflevector <4 x float> %".348", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".350" = fdiv <4 x float> %".347", %".349"
  %".351" = mul i64 %"i.12", 16
  %".352" = add i64 %".351", %"i.13"
  %".353" = getelementptr inbounds float, ptr %".139", i64 %".352"
  store <4 x float> %".350", ptr %".353", align 4
  %".355" = add i64 %"i.13", 4
  br label %"loop.13"
done.13:
  %".357" = add i64 %"i.12", 1
  br label %"loop.12"
then.2:
  %".360" = icmp slt i64 %".81", 0
  %".361" = sub i64 0, %".81"
  %".362" = select  i1 %".360", i64 %".361", i64 0
  %".363" = sub i64 8, %".81"
  %".364" = icmp slt i64 %".363", 4
  %".365" = select  i1 %".364", i64 %".363", i64 4
  %".366" = icmp slt i64 %".82", 0
  %".367" = sub i64 0, %".82"
  %".368" = select  i1 %".366", i64 %".367", i64 0
  %".369" = sub i64 16, %".82"
  %".370" = icmp slt i64 %".369", 16
  %".371" = select  i1 %".370", i64 %".369", i64 16
  br label %"loop.14"
end.2:
  ret void
loop.14:
  %"i.14" = phi  i64 [%".362", %"then.2"], [%".390", %"done.15"]
  %".373" = icmp slt i64 %"i.14", %".365"
  br i1 %".373", label %"body.14", label %"done.14"
body.14:
  br label %"loop.15"
done.14:
  br label %"end.2"
loop.15:
  %"i.15" = phi  i64 [%".368", %"body.14"], [%".388", %"body.15"]
  %".376" = icmp slt i64 %"i.15", %".371"
  br i1 %".376", label %"body.15", label %"done.15"
body.15:
  %".378" = add i64 %".81", %"i.14"
  %".379" = add i64 %".82", %"i.15"
  %".380" = mul i64 %"i.14", 16
  %".381" = add i64 %".380", %"i.15"
  %".382" = getelementptr inbounds float, ptr %".89", i64 %".381"
  %".383" = load float, ptr %".382", align 4
  %".384" = mul i64 %".378", 16
  %".385" = add i64 %".384", %".379"
  %".386" = getelementptr inbounds float, ptr %".13", i64 %".385"
  store float %".383", ptr %".386", align 4
  %".388" = add i64 %"i.15", 1
  br label %"loop.15"
done.15:
  %".390" = add i64 %"i.14", 1
  br label %"loop.14"
}
