; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".167" = alloca <16 x float>
  %".168" = alloca <16 x float>
  %".237" = alloca <16 x float>
  %".238" = alloca <16 x float>
  %".305" = alloca <16 x float>
  %".306" = alloca <16 x float>
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
  %".14" = getelementptr ptr, ptr %".1", i64 2
  %".15" = load ptr, ptr %".14"
  %".16" = getelementptr ptr, ptr %".1", i64 3
  %".17" = load ptr, ptr %".16"
  %".18" = trunc i64 %".8" to i32
  %".19" = trunc i64 %".7" to i32
  %".20" = trunc i64 %".8" to i32
  %".21" = sext i32 %".20" to i64
  %".22" = sext i32 0 to i64
  %".23" = mul i64 %".21", 4
  %".24" = mul i64 %".22", 32
  %".25" = icmp ule i64 %".23", 0
  %".26" = icmp ule i64 %".24", 0
  %".27" = and i1 %".25", %".26"
  %".28" = mul i64 %".23", 32
  %".29" = add i64 %".28", %".24"
  %".30" = getelementptr float, ptr %".11", i64 %".29"
  %".31" = getelementptr i8, ptr %".3", i64 0
  %".32" = xor i1 %".27", -1
  br i1 %".32", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".81" = select  i1 %".27", ptr %".30", ptr %".31"
  %".82" = trunc i64 %".8" to i32
  %".83" = sext i32 %".82" to i64
  %".84" = mul i64 %".83", 4
  %".85" = icmp ule i64 %".84", 0
  %".86" = getelementptr i32, ptr %".13", i64 %".84"
  %".87" = getelementptr i8, ptr %".3", i64 512
  %".88" = xor i1 %".85", -1
  br i1 %".88", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".46", %"done.1"]
  %".35" = icmp slt i64 %"i", 4
  br i1 %".35", label %"body", label %"done"
body:
  br label %"loop.1"
done:
  %".48" = icmp slt i64 %".23", 0
  %".49" = sub i64 0, %".23"
  %".50" = select  i1 %".48", i64 %".49", i64 0
  %".51" = sub i64 4, %".23"
  %".52" = icmp slt i64 %".51", 4
  %".53" = select  i1 %".52", i64 %".51", i64 4
  %".54" = icmp slt i64 %".24", 0
  %".55" = sub i64 0, %".24"
  %".56" = select  i1 %".54", i64 %".55", i64 0
  %".57" = sub i64 32, %".24"
  %".58" = icmp slt i64 %".57", 32
  %".59" = select  i1 %".58", i64 %".57", i64 32
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".44", %"body.1"]
  %".38" = icmp slt i64 %"i.1", 32
  br i1 %".38", label %"body.1", label %"done.1"
body.1:
  %".40" = mul i64 %"i", 32
  %".41" = add i64 %".40", %"i.1"
  %".42" = getelementptr inbounds float, ptr %".31", i64 %".41"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".42", align 4
  %".44" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  %".46" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [%".50", %"done"], [%".78", %"done.3"]
  %".61" = icmp slt i64 %"i.2", %".53"
  br i1 %".61", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".56", %"body.2"], [%".76", %"body.3"]
  %".64" = icmp slt i64 %"i.3", %".59"
  br i1 %".64", label %"body.3", label %"done.3"
body.3:
  %".66" = add i64 %".23", %"i.2"
  %".67" = add i64 %".24", %"i.3"
  %".68" = mul i64 %".66", 32
  %".69" = add i64 %".68", %".67"
  %".70" = getelementptr inbounds float, ptr %".11", i64 %".69"
  %".71" = load float, ptr %".70", align 4
  %".72" = mul i64 %"i.2", 32
  %".73" = add i64 %".72", %"i.3"
  %".74" = getelementptr inbounds float, ptr %".31", i64 %".73"
  store float %".71", ptr %".74", align 4
  %".76" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".78" = add i64 %"i.2", 1
  br label %"loop.2"
then.1:
  %".90" = getelementptr inbounds i32, ptr %".87", i64 0
  store <4 x i32> <i32 2147483648, i32 2147483648, i32 2147483648, i32 2147483648>, ptr %".90", align 4
  %".92" = icmp slt i64 %".84", 0
  %".93" = sub i64 0, %".84"
  %".94" = select  i1 %".92", i64 %".93", i64 0
  %".95" = sub i64 4, %".84"
  %".96" = icmp slt i64 %".95", 4
  %".97" = select  i1 %".96", i64 %".95", i64 4
  br label %"loop.4"
end.1:
  %".109" = select  i1 %".85", ptr %".86", ptr %".87"
  %".110" = trunc i64 %".8" to i32
  %".111" = sext i32 %".110" to i64
  %".112" = mul i64 %".111", 4
  %".113" = icmp ule i64 %".112", 0
  %".114" = getelementptr float, ptr %".15", i64 %".112"
  %".115" = getelementptr i8, ptr %".3", i64 576
  %".116" = xor i1 %".113", -1
  br i1 %".116", label %"then.2", label %"end.2"
loop.4:
  %"i.4" = phi  i64 [%".94", %"then.1"], [%".106", %"body.4"]
  %".99" = icmp slt i64 %"i.4", %".97"
  br i1 %".99", label %"body.4", label %"done.4"
body.4:
  %".101" = add i64 %".84", %"i.4"
  %".102" = getelementptr inbounds i32, ptr %".13", i64 %".101"
  %".103" = load i32, ptr %".102", align 4
  %".104" = getelementptr inbounds i32, ptr %".87", i64 %"i.4"
  store i32 %".103", ptr %".104", align 4
  %".106" = add i64 %"i.4", 1
  br label %"loop.4"
done.4:
  br label %"end.1"
then.2:
  %".118" = getelementptr inbounds float, ptr %".115", i64 0
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".118", align 4
  %".120" = icmp slt i64 %".112", 0
  %".121" = sub i64 0, %".112"
  %".122" = select  i1 %".120", i64 %".121", i64 0
  %".123" = sub i64 4, %".112"
  %".124" = icmp slt i64 %".123", 4
  %".125" = select  i1 %".124", i64 %".123", i64 4
  br label %"loop.5"
end.2:
  %".137" = select  i1 %".113", ptr %".114", ptr %".115"
  %".138" = trunc i64 %".8" to i32
  %".139" = sext i32 %".138" to i64
  %".140" = mul i64 %".139", 4
  %".141" = icmp ule i64 %".140", 0
  %".142" = getelementptr float, ptr %".17", i64 %".140"
  %".143" = getelementptr i8, ptr %".3", i64 640
  %".144" = xor i1 %".141", -1
  br i1 %".144", label %"then.3", label %"end.3"
loop.5:
  %"i.5" = phi  i64 [%".122", %"then.2"], [%".134", %"body.5"]
  %".127" = icmp slt i64 %"i.5", %".125"
  br i1 %".127", label %"body.5", label %"done.5"
body.5:
  %".129" = add i64 %".112", %"i.5"
  %".130" = getelementptr inbounds float, ptr %".15", i64 %".129"
  %".131" = load float, ptr %".130", align 4
  %".132" = getelementptr inbounds float, ptr %".115", i64 %"i.5"
  store float %".131", ptr %".132", align 4
  %".134" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  br label %"end.2"
then.3:
  %".146" = getelementptr inbounds float, ptr %".143", i64 0
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".146", align 4
  %".148" = icmp slt i64 %".140", 0
  %".149" = sub i64 0, %".140"
  %".150" = select  i1 %".148", i64 %".149", i64 0
  %".151" = sub i64 4, %".140"
  %".152" = icmp slt i64 %".151", 4
  %".153" = select  i1 %".152", i64 %".151", i64 4
  br label %"loop.6"
end.3:
  %".165" = select  i1 %".141", ptr %".142", ptr %".143"
  %".166" = getelementptr i8, ptr %".3", i64 704
  br label %"loop.7"
loop.6:
  %"i.6" = phi  i64 [%".150", %"then.3"], [%".162", %"body.6"]
  %".155" = icmp slt i64 %"i.6", %".153"
  br i1 %".155", label %"body.6", label %"done.6"
body.6:
  %".157" = add i64 %".140", %"i.6"
  %".158" = getelementptr inbounds float, ptr %".17", i64 %".157"
  %".159" = load float, ptr %".158", align 4
  %".160" = getelementptr inbounds float, ptr %".143", i64 %"i.6"
  store float %".159", ptr %".160", align 4
  %".162" = add i64 %"i.6", 1
  br label %"loop.6"
done.6:
  br label %"end.3"
loop.7:
  %"i.7" = phi  i64 [0, %"end.3"], [%".234", %"done.8"]
  %".170" = icmp slt i64 %"i.7", 4
  br i1 %".170", label %"body.7", label %"done.7"
body.7:
  store <16 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <16 x float>* %".167"
  store <16 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <16 x float>* %".168"
  br label %"loop.8"
done.7:
  %".236" = getelementptr i8, ptr %".3", i64 768
  br label %"loop.9"
loop.8:
  %"i.8" = phi  i64 [0, %"body.7"], [%".198", %"body.8"]
  %".175" = icmp slt i64 %"i.8", 32
  br i1 %".175", label %"body.8", label %"done.8"
body.8:
  %".177" = mul i64 %"i.7", 32
  %".178" = add i64 %".177", %"i.8"
  %".179" = getelementptr inbounds float, ptr %".81", i64 %".178"
  %".180" = load <16 x float>, ptr %".179", align 4
  %".181" = load <16 x float>, <16 x float>* %".167"
  %".182" = fcmp ogt <16 x float> %".181", %".180"
  %".183" = select  <16 x i1> %".182", <16 x float> %".181", <16 x float> %".180"
  %".184" = fcmp uno <16 x float> %".181", %".181"
  %".185" = select  <16 x i1> %".184", <16 x float> %".181", <16 x float> %".183"
  store <16 x float> %".185", <16 x float>* %".167"
  %".187" = add i64 %"i.8", 16
  %".188" = mul i64 %"i.7", 32
  %".189" = add i64 %".188", %".187"
  %".190" = getelementptr inbounds float, ptr %".81", i64 %".189"
  %".191" = load <16 x float>, ptr %".190", align 4
  %".192" = load <16 x float>, <16 x float>* %".168"
  %".193" = fcmp ogt <16 x float> %".192", %".191"
  %".194" = select  <16 x i1> %".193", <16 x float> %".192", <16 x float> %".191"
  %".195" = fcmp uno <16 x float> %".192", %".192"
  %".196" = select  <16 x i1> %".195", <16 x float> %".192", <16 x float> %".194"
  store <16 x float> %".196", <16 x float>* %".168"
  %".198" = add i64 %"i.8", 32
  br label %"loop.8"
done.8:
  %".200" = load <16 x float>, <16 x float>* %".167"
  %".201" = load <16 x float>, <16 x float>* %".168"
  %".202" = fcmp ogt <16 x float> %".200", %".201"
  %".203" = select  <16 x i1> %".202", <16 x float> %".200", <16 x float> %".201"
  %".204" = fcmp uno <16 x float> %".200", %".200"
  %".205" = select  <16 x i1> %".204", <16 x float> %".200", <16 x float> %".203"
  %".206" = shufflevector <16 x float> %".205", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".207" = shufflevector <16 x float> %".205", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".208" = fcmp ogt <8 x float> %".206", %".207"
  %".209" = select  <8 x i1> %".208", <8 x float> %".206", <8 x float> %".207"
  %".210" = fcmp uno <8 x float> %".206", %".206"
  %".211" = select  <8 x i1> %".210", <8 x float> %".206", <8 x float> %".209"
  %".212" = shufflevector <8 x float> %".211", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".213" = shufflevector <8 x float> %".211", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".214" = fcmp ogt <4 x float> %".212", %".213"
  %".215" = select  <4 x i1> %".214", <4 x float> %".212", <4 x float> %".213"
  %".216" = fcmp uno <4 x float> %".212", %".212"
  %".217" = select  <4 x i1> %".216", <4 x float> %".212", <4 x float> %".215"
  %".218" = shufflevector <4 x float> %".217", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".219" = shufflevector <4 x float> %".217", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".220" = fcmp ogt <2 x float> %".218", %".219"
  %".221" = select  <2 x i1> %".220", <2 x float> %".218", <2 x float> %".219"
  %".222" = fcmp uno <2 x float> %".218", %".218"
  %".223" = select  <2 x i1> %".222", <2 x float> %".218", <2 x float> %".221"
  %".224" = shufflevector <2 x float> %".223", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".225" = shufflevector <2 x float> %".223", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".226" = extractelement <1 x float> %".224", i32 0
  %".227" = extractelement <1 x float> %".225", i32 0
  %".228" = fcmp ogt float %".226", %".227"
  %".229" = select  i1 %".228", float %".226", float %".227"
  %".230" = fcmp uno float %".226", %".226"
  %".231" = select  i1 %".230", float %".226", float %".229"
  %".232" = getelementptr inbounds float, ptr %".166", i64 %"i.7"
  store float %".231", ptr %".232", align 4
  %".234" = add i64 %"i.7", 1
  br label %"loop.7"
loop.9:
  %"i.9" = phi  i64 [0, %"done.7"], [%".293", %"done.10"]
  %".240" = icmp slt i64 %"i.9", 4
  br i1 %".240", label %"body.9", label %"done.9"
body.9:
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".237"
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".238"
  %".244" = getelementptr inbounds float, ptr %".166", i64 %"i.9"
  %".245" = load float, ptr %".244", align 4
  br label %"loop.10"
done.9:
  %".295" = getelementptr i8, ptr %".3", i64 832
  %".296" = getelementptr inbounds float, ptr %".166", i64 0
  %".297" = load <4 x float>, ptr %".296", align 4
  %".298" = getelementptr inbounds float, ptr %".236", i64 0
  %".299" = load <4 x float>, ptr %".298", align 4
  %".300" = call <4 x float> @"tilewright.log.v4f32"(<4 x float> %".299")
  %".301" = fadd <4 x float> %".297", %".300"
  %".302" = getelementptr inbounds float, ptr %".295", i64 0
  store <4 x float> %".301", ptr %".302", align 4
  %".304" = getelementptr i8, ptr %".3", i64 896
  br label %"loop.11"
loop.10:
  %"i.10" = phi  i64 [0, %"body.9"], [%".272", %"body.10"]
  %".247" = icmp slt i64 %"i.10", 32
  br i1 %".247", label %"body.10", label %"done.10"
body.10:
  %".249" = mul i64 %"i.9", 32
  %".250" = add i64 %".249", %"i.10"
  %".251" = getelementptr inbounds float, ptr %".81", i64 %".250"
  %".252" = load <16 x float>, ptr %".251", align 4
  %".253" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".245", i32 0
  %".254" = shufflevector <16 x float> %".253", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".255" = fsub <16 x float> %".252", %".254"
  %".256" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".255")
  %".257" = load <16 x float>, <16 x float>* %".237"
  %".258" = fadd <16 x float> %".257", %".256"
  store <16 x float> %".258", <16 x float>* %".237"
  %".260" = add i64 %"i.10", 16
  %".261" = mul i64 %"i.9", 32
  %".262" = add i64 %".261", %".260"
  %".263" = getelementptr inbounds float, ptr %".81", i64 %".262"
  %".264" = load <16 x float>, ptr %".263", align 4
  %".265" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".245", i32 0
  %".266" = shufflevector <16 x float> %".265", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".267" = fsub <16 x float> %".264", %".266"
  %".268" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".267")
  %".269" = load <16 x float>, <16 x float>* %".238"
  %".270" = fadd <16 x float> %".269", %".268"
  store <16 x float> %".270", <16 x float>* %".238"
  %".272" = add i64 %"i.10", 32
  br label %"loop.10"
done.10:
  %".274" = load <16 x float>, <16 x float>* %".237"
  %".275" = load <16 x float>, <16 x float>* %".238"
  %".276" = fadd <16 x float> %".274", %".275"
  %".277" = shufflevector <16 x float> %".276", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".278" = shufflevector <16 x float> %".276", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".279" = fadd <8 x float> %".277", %".278"
  %".280" = shufflevector <8 x float> %".279", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".281" = shufflevector <8 x float> %".279", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".282" = fadd <4 x float> %".280", %".281"
  %".283" = shufflevector <4 x float> %".282", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".284" = shufflevector <4 x float> %".282", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".285" = fadd <2 x float> %".283", %".284"
  %".286" = shufflevector <2 x float> %".285", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".287" = shufflevector <2 x float> %".285", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".288" = extractelement <1 x float> %".286", i32 0
  %".289" = extractelement <1 x float> %".287", i32 0
  %".290" = fadd float %".288", %".289"
  %".291" = getelementptr inbounds float, ptr %".236", i64 %"i.9"
  store float %".290", ptr %".291", align 4
  %".293" = add i64 %"i.9", 1
  br label %"loop.9"
loop.11:
  %"i.11" = phi  i64 [0, %"done.9"], [%".373", %"done.12"]
  %".308" = icmp slt i64 %"i.11", 4
  br i1 %".308", label %"body.11", label %"done.11"
body.11:
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".305"
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".306"
  %".312" = getelementptr inbounds i32, ptr %".109", i64 %"i.11"
  %".313" = load i32, ptr %".312", align 4
  br label %"loop.12"
done.11:
  %".375" = getelementptr inbounds i32, ptr %".109", i64 0
  %".376" = load <4 x i32>, ptr %".375", align 4
  %".377" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 0, i32 0
  %".378" = shufflevector <4 x i32> %".377", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".379" = icmp sge <4 x i32> %".376", %".378"
  %".380" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 32, i32 0
  %".381" = shufflevector <4 x i32> %".380", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".382" = icmp slt <4 x i32> %".376", %".381"
  %".383" = and <4 x i1> %".379", %".382"
  %".384" = getelementptr inbounds float, ptr %".295", i64 0
  %".385" = load <4 x float>, ptr %".384", align 4
  %".386" = getelementptr inbounds float, ptr %".304", i64 0
  %".387" = load <4 x float>, ptr %".386", align 4
  %".388" = fsub <4 x float> %".385", %".387"
  %".389" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".390" = shufflevector <4 x float> %".389", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".391" = select  <4 x i1> %".383", <4 x float> %".388", <4 x float> %".390"
  %".392" = getelementptr inbounds float, ptr %".137", i64 0
  store <4 x float> %".391", ptr %".392", align 4
  %".394" = getelementptr inbounds float, ptr %".295", i64 0
  %".395" = load <4 x float>, ptr %".394", align 4
  %".396" = getelementptr inbounds float, ptr %".165", i64 0
  store <4 x float> %".395", ptr %".396", align 4
  br i1 %".116", label %"then.4", label %"end.4"
loop.12:
  %"i.12" = phi  i64 [0, %"body.11"], [%".352", %"body.12"]
  %".315" = icmp slt i64 %"i.12", 32
  br i1 %".315", label %"body.12", label %"done.12"
body.12:
  %".317" = insertelement <16 x i64> <i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, i64 %"i.12", i32 0
  %".318" = shufflevector <16 x i64> %".317", <16 x i64> <i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".319" = add <16 x i64> %".318", <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %".320" = trunc <16 x i64> %".319" to <16 x i32>
  %".321" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".313", i32 0
  %".322" = shufflevector <16 x i32> %".321", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".323" = icmp eq <16 x i32> %".320", %".322"
  %".324" = mul i64 %"i.11", 32
  %".325" = add i64 %".324", %"i.12"
  %".326" = getelementptr inbounds float, ptr %".81", i64 %".325"
  %".327" = load <16 x float>, ptr %".326", align 4
  %".328" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".329" = shufflevector <16 x float> %".328", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".330" = select  <16 x i1> %".323", <16 x float> %".327", <16 x float> %".329"
  %".331" = load <16 x float>, <16 x float>* %".305"
  %".332" = fadd <16 x float> %".331", %".330"
  store <16 x float> %".332", <16 x float>* %".305"
  %".334" = add i64 %"i.12", 16
  %".335" = insertelement <16 x i64> <i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, i64 %".334", i32 0
  %".336" = shufflevector <16 x i64> %".335", <16 x i64> <i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".337" = add <16 x i64> %".336", <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %".338" = trunc <16 x i64> %".337" to <16 x i32>
  %".339" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".313", i32 0
  %".340" = shufflevector <16 x i32> %".339", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".341" = icmp eq <16 x i32> %".338", %".340"
  %".342" = mul i64 %"i.11", 32
  %".343" = add i64 %".342", %".334"
  %".344" = getelementptr inbounds float, ptr %".81", i64 %".343"
  %".345" = load <16 x float>, ptr %".344", align 4
  %".346" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".347" = shufflevector <16 x float> %".346", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".348" = select  <16 x i1> %".341", <16 x float> %".345", <16 x float> %".347"
  %".349" = load <16 x float>, <16 x float>* %".306"
  %".350" = fadd <16 x float> %".349", %".348"
  store <16 x float> %".350", <16 x float>* %".306"
  %".352" = add i64 %"i.12", 32
  br label %"loop.12"
done.12:
  %".354" = load <16 x float>, <16 x float>* %".305"
  %".355" = load <16 x float>, <16 x float>* %".306"
  %".356" = fadd <16 x float> %".354", %".355"
  %".357" = shufflevector <16 x float> %".356", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".358" = shufflevector <16 x float> %".356", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".359" = fadd <8 x float> %".357", %".358"
  %".360" = shufflevector <8 x float> %".359", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".361" = shufflevector <8 x float> %".359", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".362" = fadd <4 x float> %".360", %".361"
  %".363" = shufflevector <4 x float> %".362", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".364" = shufflevector <4 x float> %".362", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".365" = fadd <2 x float> %".363", %".364"
  %".366" = shufflevector <2 x float> %".365", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".367" = shufflevector <2 x float> %".365", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".368" = extractelement <1 x float> %".366", i32 0
  %".369" = extractelement <1 x float> %".367", i32 0
  %".370" = fadd float %".368", %".369"
  %".371" = getelementptr inbounds float, ptr %".304", i64 %"i.11"
  store float %".370", ptr %".371", align 4
  %".373" = add i64 %"i.11", 1
  br label %"loop.11"
then.4:
  %".399" = icmp slt i64 %".112", 0
  %".400" = sub i64 0, %".112"
  %".401" = select  i1 %".399", i64 %".400", i64 0
  %".402" = sub i64 4, %".112"
  %".403" = icmp slt i64 %".402", 4
  %".404" = select  i1 %".403", i64 %".402", i64 4
  br label %"loop.13"
end.4:
  br i1 %".144", label %"then.5", label %"end.5"
loop.13:
  %"i.13" = phi  i64 [%".401", %"then.4"], [%".413", %"body.13"]
  %".406" = icmp slt i64 %"i.13", %".404"
  br i1 %".406", label %"body.13", label %"done.13"
body.13:
  %".408" = add i64 %".112", %"i.13"
  %".409" = getelementptr inbounds float, ptr %".115", i64 %"i.13"
  %".410" = load float, ptr %".409", align 4
  %".411" = getelementptr inbounds float, ptr %".15", i64 %".408"
  store float %".410", ptr %".411", align 4
  %".413" = add i64 %"i.13", 1
  br label %"loop.13"
done.13:
  br label %"end.4"
then.5:
  %".417" = icmp slt i64 %".140", 0
  %".418" = sub i64 0, %".140"
  %".419" = select  i1 %".417", i64 %".418", i64 0
  %".420" = sub i64 4, %".140"
  %".421" = icmp slt i64 %".420", 4
  %".422" = select  i1 %".421", i64 %".420", i64 4
  br label %"loop.14"
end.5:
  ret void
loop.14:
  %"i.14" = phi  i64 [%".419", %"then.5"], [%".431", %"body.14"]
  %".424" = icmp slt i64 %"i.14", %".422"
  br i1 %".424", label %"body.14", label %"done.14"
body.14:
  %".426" = add i64 %".140", %"i.14"
  %".427" = getelementptr inbounds float, ptr %".143", i64 %"i.14"
  %".428" = load float, ptr %".427", align 4
  %".429" = getelementptr inbounds float, ptr %".17", i64 %".426"
  store float %".428", ptr %".429", align 4
  %".431" = add i64 %"i.14", 1
  br label %"loop.14"
done.14:
  br label %"end.5"
}
