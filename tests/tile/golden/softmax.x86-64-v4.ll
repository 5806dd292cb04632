; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".129" = alloca <16 x float>
  %".182" = alloca <16 x float>
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
  %".71" = select  i1 %".23", ptr %".26", ptr %".27"
  %".72" = trunc i64 %".8" to i32
  %".73" = sext i32 %".72" to i64
  %".74" = sext i32 0 to i64
  %".75" = mul i64 %".73", 4
  %".76" = mul i64 %".74", 16
  %".77" = icmp ule i64 %".75", 4
  %".78" = icmp ule i64 %".76", 0
  %".79" = and i1 %".77", %".78"
  %".80" = mul i64 %".75", 16
  %".81" = add i64 %".80", %".76"
  %".82" = getelementptr float, ptr %".13", i64 %".81"
  %".83" = getelementptr i8, ptr %".3", i64 256
  %".84" = xor i1 %".79", -1
  br i1 %".84", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".36", %"body"]
  %".31" = icmp slt i64 %"i", 4
  br i1 %".31", label %"body", label %"done"
body:
  %".33" = mul i64 %"i", 16
  %".34" = getelementptr inbounds float, ptr %".27", i64 %".33"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".34", align 4
  %".36" = add i64 %"i", 1
  br label %"loop"
done:
  %".38" = icmp slt i64 %".19", 0
  %".39" = sub i64 0, %".19"
  %".40" = select  i1 %".38", i64 %".39", i64 0
  %".41" = sub i64 8, %".19"
  %".42" = icmp slt i64 %".41", 4
  %".43" = select  i1 %".42", i64 %".41", i64 4
  %".44" = icmp slt i64 %".20", 0
  %".45" = sub i64 0, %".20"
  %".46" = select  i1 %".44", i64 %".45", i64 0
  %".47" = sub i64 16, %".20"
  %".48" = icmp slt i64 %".47", 16
  %".49" = select  i1 %".48", i64 %".47", i64 16
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [%".40", %"done"], [%".68", %"done.2"]
  %".51" = icmp slt i64 %"i.1", %".43"
  br i1 %".51", label %"body.1", label %"done.1"
body.1:
  br label %"loop.2"
done.1:
  br label %"end"
loop.2:
  %"i.2" = phi  i64 [%".46", %"body.1"], [%".66", %"body.2"]
  %".54" = icmp slt i64 %"i.2", %".49"
  br i1 %".54", label %"body.2", label %"done.2"
body.2:
  %".56" = add i64 %".19", %"i.1"
  %".57" = add i64 %".20", %"i.2"
  %".58" = mul i64 %".56", 16
  %".59" = add i64 %".58", %".57"
  %".60" = getelementptr inbounds float, ptr %".11", i64 %".59"
  %".61" = load float, ptr %".60", align 4
  %".62" = mul i64 %"i.1", 16
  %".63" = add i64 %".62", %"i.2"
  %".64" = getelementptr inbounds float, ptr %".27", i64 %".63"
  store float %".61", ptr %".64", align 4
  %".66" = add i64 %"i.2", 1
  br label %"loop.2"
done.2:
  %".68" = add i64 %"i.1", 1
  br label %"loop.1"
then.1:
  br label %"loop.3"
end.1:
  %".127" = select  i1 %".79", ptr %".82", ptr %".83"
  %".128" = getelementptr i8, ptr %".3", i64 512
  br label %"loop.6"
loop.3:
  %"i.3" = phi  i64 [0, %"then.1"], [%".92", %"body.3"]
  %".87" = icmp slt i64 %"i.3", 4
  br i1 %".87", label %"body.3", label %"done.3"
body.3:
  %".89" = mul i64 %"i.3", 16
  %".90" = getelementptr inbounds float, ptr %".83", i64 %".89"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".90", align 4
  %".92" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".94" = icmp slt i64 %".75", 0
  %".95" = sub i64 0, %".75"
  %".96" = select  i1 %".94", i64 %".95", i64 0
  %".97" = sub i64 8, %".75"
  %".98" = icmp slt i64 %".97", 4
  %".99" = select  i1 %".98", i64 %".97", i64 4
  %".100" = icmp slt i64 %".76", 0
  %".101" = sub i64 0, %".76"
  %".102" = select  i1 %".100", i64 %".101", i64 0
  %".103" = sub i64 16, %".76"
  %".104" = icmp slt i64 %".103", 16
  %".105" = select  i1 %".104", i64 %".103", i64 16
  br label %"loop.4"
loop.4:
  %"i.4" = phi  i64 [%".96", %"done.3"], [%".124", %"done.5"]
  %".107" = icmp slt i64 %"i.4", %".99"
  br i1 %".107", label %"body.4", label %"done.4"
body.4:
  br label %"loop.5"
done.4:
  br label %"end.1"
loop.5:
  %"i.5" = phi  i64 [%".102", %"body.4"], [%".122", %"body.5"]
  %".110" = icmp slt i64 %"i.5", %".105"
  br i1 %".110", label %"body.5", label %"done.5"
body.5:
  %".112" = add i64 %".75", %"i.4"
  %".113" = add i64 %".76", %"i.5"
  %".114" = mul i64 %".112", 16
  %".115" = add i64 %".114", %".113"
  %".116" = getelementptr inbounds float, ptr %".13", i64 %".115"
  %".117" = load float, ptr %".116", align 4
  %".118" = mul i64 %"i.4", 16
  %".119" = add i64 %".118", %"i.5"
  %".120" = getelementptr inbounds float, ptr %".83", i64 %".119"
  store float %".117", ptr %".120", align 4
  %".122" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  %".124" = add i64 %"i.4", 1
  br label %"loop.4"
loop.6:
  %"i.6" = phi  i64 [0, %"end.1"], [%".178", %"done.7"]
  %".131" = icmp slt i64 %"i.6", 4
  br i1 %".131", label %"body.6", label %"done.6"
body.6:
  store <16 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <16 x float>* %".129"
  br label %"loop.7"
done.6:
  %".180" = getelementptr i8, ptr %".3", i64 576
  %".181" = getelementptr i8, ptr %".3", i64 640
  br label %"loop.8"
loop.7:
  %"i.7" = phi  i64 [0, %"body.6"], [%".147", %"body.7"]
  %".135" = icmp slt i64 %"i.7", 16
  br i1 %".135", label %"body.7", label %"done.7"
body.7:
  %".137" = mul i64 %"i.6", 16
  %".138" = add i64 %".137", %"i.7"
  %".139" = getelementptr inbounds float, ptr %".71", i64 %".138"
  %".140" = load <16 x float>, ptr %".139", align 4
  %".141" = load <16 x float>, <16 x float>* %".129"
  %".142" = fcmp ogt <16 x float> %".141", %".140"
  %".143" = select  <16 x i1> %".142", <16 x float> %".141", <16 x float> %".140"
  %".144" = fcmp uno <16 x float> %".141", %".141"
  %".145" = select  <16 x i1> %".144", <16 x float> %".141", <16 x float> %".143"
  store <16 x float> %".145", <16 x float>* %".129"
  %".147" = add i64 %"i.7", 16
  br label %"loop.7"
done.7:
  %".149" = load <16 x float>, <16 x float>* %".129"
  %".150" = shufflevector <16 x float> %".149", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".151" = shufflevector <16 x float> %".149", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".152" = fcmp ogt <8 x float> %".150", %".151"
  %".153" = select  <8 x i1> %".152", <8 x float> %".150", <8 x float> %".151"
  %".154" = fcmp uno <8 x float> %".150", %".150"
  %".155" = select  <8 x i1> %".154", <8 x float> %".150", <8 x float> %".153"
  %".156" = shufflevector <8 x float> %".155", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".157" = shufflevector <8 x float> %".155", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".158" = fcmp ogt <4 x float> %".156", %".157"
  %".159" = select  <4 x i1> %".158", <4 x float> %".156", <4 x float> %".157"
  %".160" = fcmp uno <4 x float> %".156", %".156"
  %".161" = select  <4 x i1> %".160", <4 x float> %".156", <4 x float> %".159"
  %".162" = shufflevector <4 x float> %".161", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".163" = shufflevector <4 x float> %".161", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".164" = fcmp ogt <2 x float> %".162", %".163"
  %".165" = select  <2 x i1> %".164", <2 x float> %".162", <2 x float> %".163"
  %".166" = fcmp uno <2 x float> %".162", %".162"
  %".167" = select  <2 x i1> %".166", <2 x float> %".162", <2 x float> %".165"
  %".168" = shufflevector <2 x float> %".167", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".169" = shufflevector <2 x float> %".167", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".170" = extractelement <1 x float> %".168", i32 0
  %".171" = extractelement <1 x float> %".169", i32 0
  %".172" = fcmp ogt float %".170", %".171"
  %".173" = select  i1 %".172", float %".170", float %".171"
  %".174" = fcmp uno float %".170", %".170"
  %".175" = select  i1 %".174", float %".170", float %".173"
  %".176" = getelementptr inbounds float, ptr %".128", i64 %"i.6"
  store float %".175", ptr %".176", align 4
  %".178" = add i64 %"i.6", 1
  br label %"loop.6"
loop.8:
  %"i.8" = phi  i64 [0, %"done.6"], [%".226", %"done.9"]
  %".184" = icmp slt i64 %"i.8", 4
  br i1 %".184", label %"body.8", label %"done.8"
body.8:
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".182"
  %".187" = getelementptr inbounds float, ptr %".128", i64 %"i.8"
  %".188" = load float, ptr %".187", align 4
  br label %"loop.9"
done.8:
  br label %"loop.10"
loop.9:
  %"i.9" = phi  i64 [0, %"body.8"], [%".207", %"body.9"]
  %".190" = icmp slt i64 %"i.9", 16
  br i1 %".190", label %"body.9", label %"done.9"
body.9:
  %".192" = mul i64 %"i.8", 16
  %".193" = add i64 %".192", %"i.9"
  %".194" = getelementptr inbounds float, ptr %".71", i64 %".193"
  %".195" = load <16 x float>, ptr %".194", align 4
  %".196" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".188", i32 0
  %".197" = shufflevector <16 x float> %".196", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".198" = fsub <16 x float> %".195", %".197"
  %".199" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".198")
  %".200" = mul i64 %"i.8", 16
  %".201" = add i64 %".200", %"i.9"
  %".202" = getelementptr inbounds float, ptr %".181", i64 %".201"
  store <16 x float> %".199", ptr %".202", align 4
  %".204" = load <16 x float>, <16 x float>* %".182"
  %".205" = fadd <16 x float> %".204", %".199"
  store <16 x float> %".205", <16 x float>* %".182"
  %".207" = add i64 %"i.9", 16
  br label %"loop.9"
done.9:
  %".209" = load <16 x float>, <16 x float>* %".182"
  %".210" = shufflevector <16 x float> %".209", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".211" = shufflevector <16 x float> %".209", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".212" = fadd <8 x float> %".210", %".211"
  %".213" = shufflevector <8 x float> %".212", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".214" = shufflevector <8 x float> %".212", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".215" = fadd <4 x float> %".213", %".214"
  %".216" = shufflevector <4 x float> %".215", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".217" = shufflevector <4 x float> %".215", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".218" = fadd <2 x float> %".216", %".217"
  %".219" = shufflevector <2 x float> %".218", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".220" = shufflevector <2 x float> %".218", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".221" = extractelement <1 x float> %".219", i32 0
  %".222" = extractelement <1 x float> %".220", i32 0
  %".223" = fadd float %".221", %".222"
  %".224" = getelementptr inbounds float, ptr %".180", i64 %"i.8"
  store float %".223", ptr %".224", align 4
  %".226" = add i64 %"i.8", 1
  br label %"loop.8"
loop.10:
  %"i.10" = phi  i64 [0, %"done.8"], [%".242", %"body.10"]
  %".229" = icmp slt i64 %"i.10", 4
  br i1 %".229", label %"body.10", label %"done.10"
body.10:
  %".231" = getelementptr inbounds float, ptr %".180", i64 %"i.10"
  %".232" = load float, ptr %".231", align 4
  %".233" = mul i64 %"i.10", 16
  %".234" = getelementptr inbounds float, ptr %".181", i64 %".233"
  %".235" = load <16 x float>, ptr %".234", align 4
  %".236" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".232", i32 0
  %".237" = shufflevector <16 x float> %".236", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".238" = fdiv <16 x float> %".235", %".237"
  %".239" = mul i64 %"i.10", 16
  %".240" = getelementptr inbounds float, ptr %".127", i64 %".239"
  store <16 x float> %".238", ptr %".240", align 4
  %".242" = add i64 %"i.10", 1
  br label %"loop.10"
done.10:
  br i1 %".84", label %"then.2", label %"end.2"
then.2:
  %".245" = icmp slt i64 %".75", 0
  %".246" = sub i64 0, %".75"
  %".247" = select  i1 %".245", i64 %".246", i64 0
  %".248" = sub i64 8, %".75"
  %".249" = icmp slt i64 %".248", 4
  %".250" = select  i1 %".249", i64 %".248", i64 4
  %".251" = icmp slt i64 %".76", 0
  %".252" = sub i64 0, %".76"
  %".253" = select  i1 %".251", i64 %".252", i64 0
  %".254" = sub i64 16, %".76"
  %".255" = icmp slt i64 %".254", 16
  %".256" = select  i1 %".255", i64 %".254", i64 16
  br label %"loop.11"
end.2:
  ret void
loop.11:
  %"i.11" = phi  i64 [%".247", %"then.2"], [%".275", %"done.12"]
  %".258" = icmp slt i64 %"i.11", %".250"
  br i1 %".258", label %"body.11", label %"done.11"
body.11:
  br label %"loop.12"
done.11:
  br label %"end.2"
loop.12:
  %"i.12" = phi  i64 [%".253", %"body.11"], [%".273", %"body.12"]
  %".261" = icmp slt i64 %"i.12", %".256"
  br i1 %".261", label %"body.12", label %"done.12"
body.12:
  %".263" = add i64 %".75", %"i.11"
  %".264" = add i64 %".76", %"i.12"
  %".265" = mul i64 %"i.11", 16
  %".266" = add i64 %".265", %"i.12"
  %".267" = getelementptr inbounds float, ptr %".83", i64 %".266"
  %".268" = load float, ptr %".267", align 4
  %".269" = mul i64 %".263", 16
  %".270" = add i64 %".269", %".264"
  %".271" = getelementptr inbounds float, ptr %".13", i64 %".270"
  store float %".268", ptr %".271", align 4
  %".273" = add i64 %"i.12", 1
  br label %"loop.12"
done.12:
  %".275" = add i64 %"i.11", 1
  br label %"loop.11"
}
