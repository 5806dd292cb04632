; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".130" = alloca <16 x float>
  %".183" = alloca <16 x float>
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = urem i64 %".4", %".8"
  %".10" = udiv i64 %".4", %".8"
  %".11" = getelementptr ptr, ptr %".1", i64 0
  %".12" = load ptr, ptr %".11"
  %".13" = getelementptr ptr, ptr %".1", i64 1
  %".14" = load ptr, ptr %".13"
  %".15" = trunc i64 %".9" to i32
  %".16" = trunc i64 %".8" to i32
  %".17" = trunc i64 %".9" to i32
  %".18" = sext i32 %".17" to i64
  %".19" = sext i32 0 to i64
  %".20" = mul i64 %".18", 4
  %".21" = mul i64 %".19", 16
  %".22" = icmp ule i64 %".20", 4
  %".23" = icmp ule i64 %".21", 0
  %".24" = and i1 %".22", %".23"
  %".25" = mul i64 %".20", 16
  %".26" = add i64 %".25", %".21"
  %".27" = getelementptr float, ptr %".12", i64 %".26"
  %".28" = getelementptr i8, ptr %".3", i64 0
  %".29" = xor i1 %".24", -1
  br i1 %".29", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".72" = select  i1 %".24", ptr %".27", ptr %".28"
  %".73" = trunc i64 %".9" to i32
  %".74" = sext i32 %".73" to i64
  %".75" = sext i32 0 to i64
  %".76" = mul i64 %".74", 4
  %".77" = mul i64 %".75", 16
  %".78" = icmp ule i64 %".76", 4
  %".79" = icmp ule i64 %".77", 0
  %".80" = and i1 %".78", %".79"
  %".81" = mul i64 %".76", 16
  %".82" = add i64 %".81", %".77"
  %".83" = getelementptr float, ptr %".14", i64 %".82"
  %".84" = getelementptr i8, ptr %".3", i64 256
  %".85" = xor i1 %".80", -1
  br i1 %".85", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".37", %"body"]
  %".32" = icmp slt i64 %"i", 4
  br i1 %".32", label %"body", label %"done"
body:
  %".34" = mul i64 %"i", 16
  %".35" = getelementptr inbounds float, ptr %".28", i64 %".34"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".35", align 4
  %".37" = add i64 %"i", 1
  br label %"loop"
done:
  %".39" = icmp slt i64 %".20", 0
  %".40" = sub i64 0, %".20"
  %".41" = select  i1 %".39", i64 %".40", i64 0
  %".42" = sub i64 8, %".20"
  %".43" = icmp slt i64 %".42", 4
  %".44" = select  i1 %".43", i64 %".42", i64 4
  %".45" = icmp slt i64 %".21", 0
  %".46" = sub i64 0, %".21"
  %".47" = select  i1 %".45", i64 %".46", i64 0
  %".48" = sub i64 16, %".21"
  %".49" = icmp slt i64 %".48", 16
  %".50" = select  i1 %".49", i64 %".48", i64 16
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [%".41", %"done"], [%".69", %"done.2"]
  %".52" = icmp slt i64 %"i.1", %".44"
  br i1 %".52", label %"body.1", label %"done.1"
body.1:
  br label %"loop.2"
done.1:
  br label %"end"
loop.2:
  %"i.2" = phi  i64 [%".47", %"body.1"], [%".67", %"body.2"]
  %".55" = icmp slt i64 %"i.2", %".50"
  br i1 %".55", label %"body.2", label %"done.2"
body.2:
  %".57" = add i64 %".20", %"i.1"
  %".58" = add i64 %".21", %"i.2"
  %".59" = mul i64 %".57", 16
  %".60" = add i64 %".59", %".58"
  %".61" = getelementptr inbounds float, ptr %".12", i64 %".60"
  %".62" = load float, ptr %".61", align 4
  %".63" = mul i64 %"i.1", 16
  %".64" = add i64 %".63", %"i.2"
  %".65" = getelementptr inbounds float, ptr %".28", i64 %".64"
  store float %".62", ptr %".65", align 4
  %".67" = add i64 %"i.2", 1
  br label %"loop.2"
done.2:
  %".69" = add i64 %"i.1", 1
  br label %"loop.1"
then.1:
  br label %"loop.3"
end.1:
  %".128" = select  i1 %".80", ptr %".83", ptr %".84"
  %".129" = getelementptr i8, ptr %".3", i64 512
  br label %"loop.6"
loop.3:
  %"i.3" = phi  i64 [0, %"then.1"], [%".93", %"body.3"]
  %".88" = icmp slt i64 %"i.3", 4
  br i1 %".88", label %"body.3", label %"done.3"
body.3:
  %".90" = mul i64 %"i.3", 16
  %".91" = getelementptr inbounds float, ptr %".84", i64 %".90"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".91", align 4
  %".93" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".95" = icmp slt i64 %".76", 0
  %".96" = sub i64 0, %".76"
  %".97" = select  i1 %".95", i64 %".96", i64 0
  %".98" = sub i64 8, %".76"
  %".99" = icmp slt i64 %".98", 4
  %".100" = select  i1 %".99", i64 %".98", i64 4
  %".101" = icmp slt i64 %".77", 0
  %".102" = sub i64 0, %".77"
  %".103" = select  i1 %".101", i64 %".102", i64 0
  %".104" = sub i64 16, %".77"
  %".105" = icmp slt i64 %".104", 16
  %".106" = select  i1 %".105", i64 %".104", i64 16
  br label %"loop.4"
loop.4:
  %"i.4" = phi  i64 [%".97", %"done.3"], [%".125", %"done.5"]
  %".108" = icmp slt i64 %"i.4", %".100"
  br i1 %".108", label %"body.4", label %"done.4"
body.4:
  br label %"loop.5"
done.4:
  br label %"end.1"
loop.5:
  %"i.5" = phi  i64 [%".103", %"body.4"], [%".123", %"body.5"]
  %".111" = icmp slt i64 %"i.5", %".106"
  br i1 %".111", label %"body.5", label %"done.5"
body.5:
  %".113" = add i64 %".76", %"i.4"
  %".114" = add i64 %".77", %"i.5"
  %".115" = mul i64 %".113", 16
  %".116" = add i64 %".115", %".114"
  %".117" = getelementptr inbounds float, ptr %".14", i64 %".116"
  %".118" = load float, ptr %".117", align 4
  %".119" = mul i64 %"i.4", 16
  %".120" = add i64 %".119", %"i.5"
  %".121" = getelementptr inbounds float, ptr %".84", i64 %".120"
  store float %".118", ptr %".121", align 4
  %".123" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  %".125" = add i64 %"i.4", 1
  br label %"loop.4"
loop.6:
  %"i.6" = phi  i64 [0, %"end.1"], [%".179", %"done.7"]
  %".132" = icmp slt i64 %"i.6", 4
  br i1 %".132", label %"body.6", label %"done.6"
body.6:
  store <16 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <16 x float>* %".130"
  br label %"loop.7"
done.6:
  %".181" = getelementptr i8, ptr %".3", i64 576
  %".182" = getelementptr i8, ptr %".3", i64 640
  br label %"loop.8"
loop.7:
  %"i.7" = phi  i64 [0, %"body.6"], [%".148", %"body.7"]
  %".136" = icmp slt i64 %"i.7", 16
  br i1 %".136", label %"body.7", label %"done.7"
body.7:
  %".138" = mul i64 %"i.6", 16
  %".139" = add i64 %".138", %"i.7"
  %".140" = getelementptr inbounds float, ptr %".72", i64 %".139"
  %".141" = load <16 x float>, ptr %".140", align 4
  %".142" = load <16 x float>, <16 x float>* %".130"
  %".143" = fcmp ogt <16 x float> %".142", %".141"
  %".144" = select  <16 x i1> %".143", <16 x float> %".142", <16 x float> %".141"
  %".145" = fcmp uno <16 x float> %".142", %".142"
  %".146" = select  <16 x i1> %".145", <16 x float> %".142", <16 x float> %".144"
  store <16 x float> %".146", <16 x float>* %".130"
  %".148" = add i64 %"i.7", 16
  br label %"loop.7"
done.7:
  %".150" = load <16 x float>, <16 x float>* %".130"
  %".151" = shufflevector <16 x float> %".150", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".152" = shufflevector <16 x float> %".150", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".153" = fcmp ogt <8 x float> %".151", %".152"
  %".154" = select  <8 x i1> %".153", <8 x float> %".151", <8 x float> %".152"
  %".155" = fcmp uno <8 x float> %".151", %".151"
  %".156" = select  <8 x i1> %".155", <8 x float> %".151", <8 x float> %".154"
  %".157" = shufflevector <8 x float> %".156", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".158" = shufflevector <8 x float> %".156", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".159" = fcmp ogt <4 x float> %".157", %".158"
  %".160" = select  <4 x i1> %".159", <4 x float> %".157", <4 x float> %".158"
  %".161" = fcmp uno <4 x float> %".157", %".157"
  %".162" = select  <4 x i1> %".161", <4 x float> %".157", <4 x float> %".160"
  %".163" = shufflevector <4 x float> %".162", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".164" = shufflevector <4 x float> %".162", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".165" = fcmp ogt <2 x float> %".163", %".164"
  %".166" = select  <2 x i1> %".165", <2 x float> %".163", <2 x float> %".164"
  %".167" = fcmp uno <2 x float> %".163", %".163"
  %".168" = select  <2 x i1> %".167", <2 x float> %".163", <2 x float> %".166"
  %".169" = shufflevector <2 x float> %".168", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".170" = shufflevector <2 x float> %".168", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".171" = extractelement <1 x float> %".169", i32 0
  %".172" = extractelement <1 x float> %".170", i32 0
  %".173" = fcmp ogt float %".171", %".172"
  %".174" = select  i1 %".173", float %".171", float %".172"
  %".175" = fcmp uno float %".171", %".171"
  %".176" = select  i1 %".175", float %".171", float %".174"
  %".177" = getelementptr inbounds float, ptr %".129", i64 %"i.6"
  store float %".176", ptr %".177", align 4
  %".179" = add i64 %"i.6", 1
  br label %"loop.6"
loop.8:
  %"i.8" = phi  i64 [0, %"done.6"], [%".227", %"done.9"]
  %".185" = icmp slt i64 %"i.8", 4
  br i1 %".185", label %"body.8", label %"done.8"
body.8:
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".183"
  %".188" = getelementptr inbounds float, ptr %".129", i64 %"i.8"
  %".189" = load float, ptr %".188", align 4
  br label %"loop.9"
done.8:
  br label %"loop.10"
loop.9:
  %"i.9" = phi  i64 [0, %"body.8"], [%".208", %"body.9"]
  %".191" = icmp slt i64 %"i.9", 16
  br i1 %".191", label %"body.9", label %"done.9"
body.9:
  %".193" = mul i64 %"i.8", 16
  %".194" = add i64 %".193", %"i.9"
  %".195" = getelementptr inbounds float, ptr %".72", i64 %".194"
  %".196" = load <16 x float>, ptr %".195", align 4
  %".197" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".189", i32 0
  %".198" = shufflevector <16 x float> %".197", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".199" = fsub <16 x float> %".196", %".198"
  %".200" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".199")
  %".201" = mul i64 %"i.8", 16
  %".202" = add i64 %".201", %"i.9"
  %".203" = getelementptr inbounds float, ptr %".182", i64 %".202"
  store <16 x float> %".200", ptr %".203", align 4
  %".205" = load <16 x float>, <16 x float>* %".183"
  %".206" = fadd <16 x float> %".205", %".200"
  store <16 x float> %".206", <16 x float>* %".183"
  %".208" = add i64 %"i.9", 16
  br label %"loop.9"
done.9:
  %".210" = load <16 x float>, <16 x float>* %".183"
  %".211" = shufflevector <16 x float> %".210", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".212" = shufflevector <16 x float> %".210", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".213" = fadd <8 x float> %".211", %".212"
  %".214" = shufflevector <8 x float> %".213", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".215" = shufflevector <8 x float> %".213", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".216" = fadd <4 x float> %".214", %".215"
  %".217" = shufflevector <4 x float> %".216", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".218" = shufflevector <4 x float> %".216", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".219" = fadd <2 x float> %".217", %".218"
  %".220" = shufflevector <2 x float> %".219", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".221" = shufflevector <2 x float> %".219", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".222" = extractelement <1 x float> %".220", i32 0
  %".223" = extractelement <1 x float> %".221", i32 0
  %".224" = fadd float %".222", %".223"
  %".225" = getelementptr inbounds float, ptr %".181", i64 %"i.8"
  store float %".224", ptr %".225", align 4
  %".227" = add i64 %"i.8", 1
  br label %"loop.8"
loop.10:
  %"i.10" = phi  i64 [0, %"done.8"], [%".243", %"body.10"]
  %".230" = icmp slt i64 %"i.10", 4
  br i1 %".230", label %"body.10", label %"done.10"
body.10:
  %".232" = getelementptr inbounds float, ptr %".181", i64 %"i.10"
  %".233" = load float, ptr %".232", align 4
  %".234" = mul i64 %"i.10", 16
  %".235" = getelementptr inbounds float, ptr %".182", i64 %".234"
  %".236" = load <16 x float>, ptr %".235", align 4
  %".237" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".233", i32 0
  %".238" = shufflevector <16 x float> %".237", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".239" = fdiv <16 x float> %".236", %".238"
  %".240" = mul i64 %"i.10", 16
  %".241" = getelementptr inbounds float, ptr %".128", i64 %".240"
  store <16 x float> %".239", ptr %".241", align 4
  %".243" = add i64 %"i.10", 1
  br label %"loop.10"
done.10:
  br i1 %".85", label %"then.2", label %"end.2"
then.2:
  %".246" = icmp slt i64 %".76", 0
  %".247" = sub i64 0, %".76"
  %".248" = select  i1 %".246", i64 %".247", i64 0
  %".249" = sub i64 8, %".76"
  %".250" = icmp slt i64 %".249", 4
  %".251" = select  i1 %".250", i64 %".249", i64 4
  %".252" = icmp slt i64 %".77", 0
  %".253" = sub i64 0, %".77"
  %".254" = select  i1 %".252", i64 %".253", i64 0
  %".255" = sub i64 16, %".77"
  %".256" = icmp slt i64 %".255", 16
  %".257" = select  i1 %".256", i64 %".255", i64 16
  br label %"loop.11"
end.2:
  ret void
loop.11:
  %"i.11" = phi  i64 [%".248", %"then.2"], [%".276", %"done.12"]
  %".259" = icmp slt i64 %"i.11", %".251"
  br i1 %".259", label %"body.11", label %"done.11"
body.11:
  br label %"loop.12"
done.11:
  br label %"end.2"
loop.12:
  %"i.12" = phi  i64 [%".254", %"body.11"], [%".274", %"body.12"]
  %".262" = icmp slt i64 %"i.12", %".257"
  br i1 %".262", label %"body.12", label %"done.12"
body.12:
  %".264" = add i64 %".76", %"i.11"
  %".265" = add i64 %".77", %"i.12"
  %".266" = mul i64 %"i.11", 16
  %".267" = add i64 %".266", %"i.12"
  %".268" = getelementptr inbounds float, ptr %".84", i64 %".267"
  %".269" = load float, ptr %".268", align 4
  %".270" = mul i64 %".264", 16
  %".271" = add i64 %".270", %".265"
  %".272" = getelementptr inbounds float, ptr %".14", i64 %".271"
  store float %".269", ptr %".272", align 4
  %".274" = add i64 %"i.12", 1
  br label %"loop.12"
done.12:
  %".276" = add i64 %"i.11", 1
  br label %"loop.11"
}
