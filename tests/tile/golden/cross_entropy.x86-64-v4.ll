; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".168" = alloca <16 x float>
  %".169" = alloca <16 x float>
  %".238" = alloca <16 x float>
  %".239" = alloca <16 x float>
  %".306" = alloca <16 x float>
  %".307" = alloca <16 x float>
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
  %".15" = getelementptr ptr, ptr %".1", i64 2
  %".16" = load ptr, ptr %".15"
  %".17" = getelementptr ptr, ptr %".1", i64 3
  %".18" = load ptr, ptr %".17"
  %".19" = trunc i64 %".9" to i32
  %".20" = trunc i64 %".8" to i32
  %".21" = trunc i64 %".9" to i32
  %".22" = sext i32 %".21" to i64
  %".23" = sext i32 0 to i64
  %".24" = mul i64 %".22", 4
  %".25" = mul i64 %".23", 32
  %".26" = icmp ule i64 %".24", 0
  %".27" = icmp ule i64 %".25", 0
  %".28" = and i1 %".26", %".27"
  %".29" = mul i64 %".24", 32
  %".30" = add i64 %".29", %".25"
  %".31" = getelementptr float, ptr %".12", i64 %".30"
  %".32" = getelementptr i8, ptr %".3", i64 0
  %".33" = xor i1 %".28", -1
  br i1 %".33", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".82" = select  i1 %".28", ptr %".31", ptr %".32"
  %".83" = trunc i64 %".9" to i32
  %".84" = sext i32 %".83" to i64
  %".85" = mul i64 %".84", 4
  %".86" = icmp ule i64 %".85", 0
  %".87" = getelementptr i32, ptr %".14", i64 %".85"
  %".88" = getelementptr i8, ptr %".3", i64 512
  %".89" = xor i1 %".86", -1
  br i1 %".89", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".47", %"done.1"]
  %".36" = icmp slt i64 %"i", 4
  br i1 %".36", label %"body", label %"done"
body:
  br label %"loop.1"
done:
  %".49" = icmp slt i64 %".24", 0
  %".50" = sub i64 0, %".24"
  %".51" = select  i1 %".49", i64 %".50", i64 0
  %".52" = sub i64 4, %".24"
  %".53" = icmp slt i64 %".52", 4
  %".54" = select  i1 %".53", i64 %".52", i64 4
  %".55" = icmp slt i64 %".25", 0
  %".56" = sub i64 0, %".25"
  %".57" = select  i1 %".55", i64 %".56", i64 0
  %".58" = sub i64 32, %".25"
  %".59" = icmp slt i64 %".58", 32
  %".60" = select  i1 %".59", i64 %".58", i64 32
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".45", %"body.1"]
  %".39" = icmp slt i64 %"i.1", 32
  br i1 %".39", label %"body.1", label %"done.1"
body.1:
  %".41" = mul i64 %"i", 32
  %".42" = add i64 %".41", %"i.1"
  %".43" = getelementptr inbounds float, ptr %".32", i64 %".42"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".43", align 4
  %".45" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  %".47" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [%".51", %"done"], [%".79", %"done.3"]
  %".62" = icmp slt i64 %"i.2", %".54"
  br i1 %".62", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".57", %"body.2"], [%".77", %"body.3"]
  %".65" = icmp slt i64 %"i.3", %".60"
  br i1 %".65", label %"body.3", label %"done.3"
body.3:
  %".67" = add i64 %".24", %"i.2"
  %".68" = add i64 %".25", %"i.3"
  %".69" = mul i64 %".67", 32
  %".70" = add i64 %".69", %".68"
  %".71" = getelementptr inbounds float, ptr %".12", i64 %".70"
  %".72" = load float, ptr %".71", align 4
  %".73" = mul i64 %"i.2", 32
  %".74" = add i64 %".73", %"i.3"
  %".75" = getelementptr inbounds float, ptr %".32", i64 %".74"
  store float %".72", ptr %".75", align 4
  %".77" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".79" = add i64 %"i.2", 1
  br label %"loop.2"
then.1:
  %".91" = getelementptr inbounds i32, ptr %".88", i64 0
  store <4 x i32> <i32 2147483648, i32 2147483648, i32 2147483648, i32 2147483648>, ptr %".91", align 4
  %".93" = icmp slt i64 %".85", 0
  %".94" = sub i64 0, %".85"
  %".95" = select  i1 %".93", i64 %".94", i64 0
  %".96" = sub i64 4, %".85"
  %".97" = icmp slt i64 %".96", 4
  %".98" = select  i1 %".97", i64 %".96", i64 4
  br label %"loop.4"
end.1:
  %".110" = select  i1 %".86", ptr %".87", ptr %".88"
  %".111" = trunc i64 %".9" to i32
  %".112" = sext i32 %".111" to i64
  %".113" = mul i64 %".112", 4
  %".114" = icmp ule i64 %".113", 0
  %".115" = getelementptr float, ptr %".16", i64 %".113"
  %".116" = getelementptr i8, ptr %".3", i64 576
  %".117" = xor i1 %".114", -1
  br i1 %".117", label %"then.2", label %"end.2"
loop.4:
  %"i.4" = phi  i64 [%".95", %"then.1"], [%".107", %"body.4"]
  %".100" = icmp slt i64 %"i.4", %".98"
  br i1 %".100", label %"body.4", label %"done.4"
body.4:
  %".102" = add i64 %".85", %"i.4"
  %".103" = getelementptr inbounds i32, ptr %".14", i64 %".102"
  %".104" = load i32, ptr %".103", align 4
  %".105" = getelementptr inbounds i32, ptr %".88", i64 %"i.4"
  store i32 %".104", ptr %".105", align 4
  %".107" = add i64 %"i.4", 1
  br label %"loop.4"
done.4:
  br label %"end.1"
then.2:
  %".119" = getelementptr inbounds float, ptr %".116", i64 0
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".119", align 4
  %".121" = icmp slt i64 %".113", 0
  %".122" = sub i64 0, %".113"
  %".123" = select  i1 %".121", i64 %".122", i64 0
  %".124" = sub i64 4, %".113"
  %".125" = icmp slt i64 %".124", 4
  %".126" = select  i1 %".125", i64 %".124", i64 4
  br label %"loop.5"
end.2:
  %".138" = select  i1 %".114", ptr %".115", ptr %".116"
  %".139" = trunc i64 %".9" to i32
  %".140" = sext i32 %".139" to i64
  %".141" = mul i64 %".140", 4
  %".142" = icmp ule i64 %".141", 0
  %".143" = getelementptr float, ptr %".18", i64 %".141"
  %".144" = getelementptr i8, ptr %".3", i64 640
  %".145" = xor i1 %".142", -1
  br i1 %".145", label %"then.3", label %"end.3"
loop.5:
  %"i.5" = phi  i64 [%".123", %"then.2"], [%".135", %"body.5"]
  %".128" = icmp slt i64 %"i.5", %".126"
  br i1 %".128", label %"body.5", label %"done.5"
body.5:
  %".130" = add i64 %".113", %"i.5"
  %".131" = getelementptr inbounds float, ptr %".16", i64 %".130"
  %".132" = load float, ptr %".131", align 4
  %".133" = getelementptr inbounds float, ptr %".116", i64 %"i.5"
  store float %".132", ptr %".133", align 4
  %".135" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  br label %"end.2"
then.3:
  %".147" = getelementptr inbounds float, ptr %".144", i64 0
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".147", align 4
  %".149" = icmp slt i64 %".141", 0
  %".150" = sub i64 0, %".141"
  %".151" = select  i1 %".149", i64 %".150", i64 0
  %".152" = sub i64 4, %".141"
  %".153" = icmp slt i64 %".152", 4
  %".154" = select  i1 %".153", i64 %".152", i64 4
  br label %"loop.6"
end.3:
  %".166" = select  i1 %".142", ptr %".143", ptr %".144"
  %".167" = getelementptr i8, ptr %".3", i64 704
  br label %"loop.7"
loop.6:
  %"i.6" = phi  i64 [%".151", %"then.3"], [%".163", %"body.6"]
  %".156" = icmp slt i64 %"i.6", %".154"
  br i1 %".156", label %"body.6", label %"done.6"
body.6:
  %".158" = add i64 %".141", %"i.6"
  %".159" = getelementptr inbounds float, ptr %".18", i64 %".158"
  %".160" = load float, ptr %".159", align 4
  %".161" = getelementptr inbounds float, ptr %".144", i64 %"i.6"
  store float %".160", ptr %".161", align 4
  %".163" = add i64 %"i.6", 1
  br label %"loop.6"
done.6:
  br label %"end.3"
loop.7:
  %"i.7" = phi  i64 [0, %"end.3"], [%".235", %"done.8"]
  %".171" = icmp slt i64 %"i.7", 4
  br i1 %".171", label %"body.7", label %"done.7"
body.7:
  store <16 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <16 x float>* %".168"
  store <16 x float> <float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000, float 0xfff0000000000000>, <16 x float>* %".169"
  br label %"loop.8"
done.7:
  %".237" = getelementptr i8, ptr %".3", i64 768
  br label %"loop.9"
loop.8:
  %"i.8" = phi  i64 [0, %"body.7"], [%".199", %"body.8"]
  %".176" = icmp slt i64 %"i.8", 32
  br i1 %".176", label %"body.8", label %"done.8"
body.8:
  %".178" = mul i64 %"i.7", 32
  %".179" = add i64 %".178", %"i.8"
  %".180" = getelementptr inbounds float, ptr %".82", i64 %".179"
  %".181" = load <16 x float>, ptr %".180", align 4
  %".182" = load <16 x float>, <16 x float>* %".168"
  %".183" = fcmp ogt <16 x float> %".182", %".181"
  %".184" = select  <16 x i1> %".183", <16 x float> %".182", <16 x float> %".181"
  %".185" = fcmp uno <16 x float> %".182", %".182"
  %".186" = select  <16 x i1> %".185", <16 x float> %".182", <16 x float> %".184"
  store <16 x float> %".186", <16 x float>* %".168"
  %".188" = add i64 %"i.8", 16
  %".189" = mul i64 %"i.7", 32
  %".190" = add i64 %".189", %".188"
  %".191" = getelementptr inbounds float, ptr %".82", i64 %".190"
  %".192" = load <16 x float>, ptr %".191", align 4
  %".193" = load <16 x float>, <16 x float>* %".169"
  %".194" = fcmp ogt <16 x float> %".193", %".192"
  %".195" = select  <16 x i1> %".194", <16 x float> %".193", <16 x float> %".192"
  %".196" = fcmp uno <16 x float> %".193", %".193"
  %".197" = select  <16 x i1> %".196", <16 x float> %".193", <16 x float> %".195"
  store <16 x float> %".197", <16 x float>* %".169"
  %".199" = add i64 %"i.8", 32
  br label %"loop.8"
done.8:
  %".201" = load <16 x float>, <16 x float>* %".168"
  %".202" = load <16 x float>, <16 x float>* %".169"
  %".203" = fcmp ogt <16 x float> %".201", %".202"
  %".204" = select  <16 x i1> %".203", <16 x float> %".201", <16 x float> %".202"
  %".205" = fcmp uno <16 x float> %".201", %".201"
  %".206" = select  <16 x i1> %".205", <16 x float> %".201", <16 x float> %".204"
  %".207" = shufflevector <16 x float> %".206", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".208" = shufflevector <16 x float> %".206", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".209" = fcmp ogt <8 x float> %".207", %".208"
  %".210" = select  <8 x i1> %".209", <8 x float> %".207", <8 x float> %".208"
  %".211" = fcmp uno <8 x float> %".207", %".207"
  %".212" = select  <8 x i1> %".211", <8 x float> %".207", <8 x float> %".210"
  %".213" = shufflevector <8 x float> %".212", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".214" = shufflevector <8 x float> %".212", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".215" = fcmp ogt <4 x float> %".213", %".214"
  %".216" = select  <4 x i1> %".215", <4 x float> %".213", <4 x float> %".214"
  %".217" = fcmp uno <4 x float> %".213", %".213"
  %".218" = select  <4 x i1> %".217", <4 x float> %".213", <4 x float> %".216"
  %".219" = shufflevector <4 x float> %".218", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".220" = shufflevector <4 x float> %".218", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".221" = fcmp ogt <2 x float> %".219", %".220"
  %".222" = select  <2 x i1> %".221", <2 x float> %".219", <2 x float> %".220"
  %".223" = fcmp uno <2 x float> %".219", %".219"
  %".224" = select  <2 x i1> %".223", <2 x float> %".219", <2 x float> %".222"
  %".225" = shufflevector <2 x float> %".224", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".226" = shufflevector <2 x float> %".224", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".227" = extractelement <1 x float> %".225", i32 0
  %".228" = extractelement <1 x float> %".226", i32 0
  %".229" = fcmp ogt float %".227", %".228"
  %".230" = select  i1 %".229", float %".227", float %".228"
  %".231" = fcmp uno float %".227", %".227"
  %".232" = select  i1 %".231", float %".227", float %".230"
  %".233" = getelementptr inbounds float, ptr %".167", i64 %"i.7"
  store float %".232", ptr %".233", align 4
  %".235" = add i64 %"i.7", 1
  br label %"loop.7"
loop.9:
  %"i.9" = phi  i64 [0, %"done.7"], [%".294", %"done.10"]
  %".241" = icmp slt i64 %"i.9", 4
  br i1 %".241", label %"body.9", label %"done.9"
body.9:
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".238"
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".239"
  %".245" = getelementptr inbounds float, ptr %".167", i64 %"i.9"
  %".246" = load float, ptr %".245", align 4
  br label %"loop.10"
done.9:
  %".296" = getelementptr i8, ptr %".3", i64 832
  %".297" = getelementptr inbounds float, ptr %".167", i64 0
  %".298" = load <4 x float>, ptr %".297", align 4
  %".299" = getelementptr inbounds float, ptr %".237", i64 0
  %".300" = load <4 x float>, ptr %".299", align 4
  %".301" = call <4 x float> @"tilewright.log.v4f32"(<4 x float> %".300")
  %".302" = fadd <4 x float> %".298", %".301"
  %".303" = getelementptr inbounds float, ptr %".296", i64 0
  store <4 x float> %".302", ptr %".303", align 4
  %".305" = getelementptr i8, ptr %".3", i64 896
  br label %"loop.11"
loop.10:
  %"i.10" = phi  i64 [0, %"body.9"], [%".273", %"body.10"]
  %".248" = icmp slt i64 %"i.10", 32
  br i1 %".248", label %"body.10", label %"done.10"
body.10:
  %".250" = mul i64 %"i.9", 32
  %".251" = add i64 %".250", %"i.10"
  %".252" = getelementptr inbounds float, ptr %".82", i64 %".251"
  %".253" = load <16 x float>, ptr %".252", align 4
  %".254" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".246", i32 0
  %".255" = shufflevector <16 x float> %".254", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".256" = fsub <16 x float> %".253", %".255"
  %".257" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".256")
  %".258" = load <16 x float>, <16 x float>* %".238"
  %".259" = fadd <16 x float> %".258", %".257"
  store <16 x float> %".259", <16 x float>* %".238"
  %".261" = add i64 %"i.10", 16
  %".262" = mul i64 %"i.9", 32
  %".263" = add i64 %".262", %".261"
  %".264" = getelementptr inbounds float, ptr %".82", i64 %".263"
  %".265" = load <16 x float>, ptr %".264", align 4
  %".266" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".246", i32 0
  %".267" = shufflevector <16 x float> %".266", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".268" = fsub <16 x float> %".265", %".267"
  %".269" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".268")
  %".270" = load <16 x float>, <16 x float>* %".239"
  %".271" = fadd <16 x float> %".270", %".269"
  store <16 x float> %".271", <16 x float>* %".239"
  %".273" = add i64 %"i.10", 32
  br label %"loop.10"
done.10:
  %".275" = load <16 x float>, <16 x float>* %".238"
  %".276" = load <16 x float>, <16 x float>* %".239"
  %".277" = fadd <16 x float> %".275", %".276"
  %".278" = shufflevector <16 x float> %".277", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".279" = shufflevector <16 x float> %".277", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".280" = fadd <8 x float> %".278", %".279"
  %".281" = shufflevector <8 x float> %".280", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".282" = shufflevector <8 x float> %".280", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".283" = fadd <4 x float> %".281", %".282"
  %".284" = shufflevector <4 x float> %".283", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".285" = shufflevector <4 x float> %".283", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".286" = fadd <2 x float> %".284", %".285"
  %".287" = shufflevector <2 x float> %".286", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".288" = shufflevector <2 x float> %".286", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".289" = extractelement <1 x float> %".287", i32 0
  %".290" = extractelement <1 x float> %".288", i32 0
  %".291" = fadd float %".289", %".290"
  %".292" = getelementptr inbounds float, ptr %".237", i64 %"i.9"
  store float %".291", ptr %".292", align 4
  %".294" = add i64 %"i.9", 1
  br label %"loop.9"
loop.11:
  %"i.11" = phi  i64 [0, %"done.9"], [%".374", %"done.12"]
  %".309" = icmp slt i64 %"i.11", 4
  br i1 %".309", label %"body.11", label %"done.11"
body.11:
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".306"
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".307"
  %".313" = getelementptr inbounds i32, ptr %".110", i64 %"i.11"
  %".314" = load i32, ptr %".313", align 4
  br label %"loop.12"
done.11:
  %".376" = getelementptr inbounds i32, ptr %".110", i64 0
  %".377" = load <4 x i32>, ptr %".376", align 4
  %".378" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 0, i32 0
  %".379" = shufflevector <4 x i32> %".378", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".380" = icmp sge <4 x i32> %".377", %".379"
  %".381" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 32, i32 0
  %".382" = shufflevector <4 x i32> %".381", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".383" = icmp slt <4 x i32> %".377", %".382"
  %".384" = and <4 x i1> %".380", %".383"
  %".385" = getelementptr inbounds float, ptr %".296", i64 0
  %".386" = load <4 x float>, ptr %".385", align 4
  %".387" = getelementptr inbounds float, ptr %".305", i64 0
  %".388" = load <4 x float>, ptr %".387", align 4
  %".389" = fsub <4 x float> %".386", %".388"
  %".390" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".391" = shufflevector <4 x float> %".390", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".392" = select  <4 x i1> %".384", <4 x float> %".389", <4 x float> %".391"
  %".393" = getelementptr inbounds float, ptr %".138", i64 0
  store <4 x float> %".392", ptr %".393", align 4
  %".395" = getelementptr inbounds float, ptr %".296", i64 0
  %".396" = load <4 x float>, ptr %".395", align 4
  %".397" = getelementptr inbounds float, ptr %".166", i64 0
  store <4 x float> %".396", ptr %".397", align 4
  br i1 %".117", label %"then.4", label %"end.4"
loop.12:
  %"i.12" = phi  i64 [0, %"body.11"], [%".353", %"body.12"]
  %".316" = icmp slt i64 %"i.12", 32
  br i1 %".316", label %"body.12", label %"done.12"
body.12:
  %".318" = insertelement <16 x i64> <i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, i64 %"i.12", i32 0
  %".319" = shufflevector <16 x i64> %".318", <16 x i64> <i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".320" = add <16 x i64> %".319", <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %".321" = trunc <16 x i64> %".320" to <16 x i32>
  %".322" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".314", i32 0
  %".323" = shufflevector <16 x i32> %".322", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".324" = icmp eq <16 x i32> %".321", %".323"
  %".325" = mul i64 %"i.11", 32
  %".326" = add i64 %".325", %"i.12"
  %".327" = getelementptr inbounds float, ptr %".82", i64 %".326"
  %".328" = load <16 x float>, ptr %".327", align 4
  %".329" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".330" = shufflevector <16 x float> %".329", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".331" = select  <16 x i1> %".324", <16 x float> %".328", <16 x float> %".330"
  %".332" = load <16 x float>, <16 x float>* %".306"
  %".333" = fadd <16 x float> %".332", %".331"
  store <16 x float> %".333", <16 x float>* %".306"
  %".335" = add i64 %"i.12", 16
  %".336" = insertelement <16 x i64> <i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, i64 %".335", i32 0
  %".337" = shufflevector <16 x i64> %".336", <16 x i64> <i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef, i64 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".338" = add <16 x i64> %".337", <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11, i64 12, i64 13, i64 14, i64 15>
  %".339" = trunc <16 x i64> %".338" to <16 x i32>
  %".340" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".314", i32 0
  %".341" = shufflevector <16 x i32> %".340", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".342" = icmp eq <16 x i32> %".339", %".341"
  %".343" = mul i64 %"i.11", 32
  %".344" = add i64 %".343", %".335"
  %".345" = getelementptr inbounds float, ptr %".82", i64 %".344"
  %".346" = load <16 x float>, ptr %".345", align 4
  %".347" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".348" = shufflevector <16 x float> %".347", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".349" = select  <16 x i1> %".342", <16 x float> %".346", <16 x float> %".348"
  %".350" = load <16 x float>, <16 x float>* %".307"
  %".351" = fadd <16 x float> %".350", %".349"
  store <16 x float> %".351", <16 x float>* %".307"
  %".353" = add i64 %"i.12", 32
  br label %"loop.12"
done.12:
  %".355" = load <16 x float>, <16 x float>* %".306"
  %".356" = load <16 x float>, <16 x float>* %".307"
  %".357" = fadd <16 x float> %".355", %".356"
  %".358" = shufflevector <16 x float> %".357", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".359" = shufflevector <16 x float> %".357", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".360" = fadd <8 x float> %".358", %".359"
  %".361" = shufflevector <8 x float> %".360", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".362" = shufflevector <8 x float> %".360", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".363" = fadd <4 x float> %".361", %".362"
  %".364" = shufflevector <4 x float> %".363", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".365" = shufflevector <4 x float> %".363", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".366" = fadd <2 x float> %".364", %".365"
  %".367" = shufflevector <2 x float> %".366", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".368" = shufflevector <2 x float> %".366", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".369" = extractelement <1 x float> %".367", i32 0
  %".370" = extractelement <1 x float> %".368", i32 0
  %".371" = fadd float %".369", %".370"
  %".372" = getelementptr inbounds float, ptr %".305", i64 %"i.11"
  store float %".371", ptr %".372", align 4
  %".374" = add i64 %"i.11", 1
  br label %"loop.11"
then.4:
  %".400" = icmp slt i64 %".113", 0
  %".401" = sub i64 0, %".113"
  %".402" = select  i1 %".400", i64 %".401", i64 0
  %".403" = sub i64 4, %".113"
  %".404" = icmp slt i64 %".403", 4
  %".405" = select  i1 %".404", i64 %".403", i64 4
  br label %"loop.13"
end.4:
  br i1 %".145", label %"then.5", label %"end.5"
loop.13:
  %"i.13" = phi  i64 [%".402", %"then.4"], [%".414", %"body.13"]
  %".407" = icmp slt i64 %"i.13", %".405"
  br i1 %".407", label %"body.13", label %"done.13"
body.13:
  %".409" = add i64 %".113", %"i.13"
  %".410" = getelementptr inbounds float, ptr %".116", i64 %"i.13"
  %".411" = load float, ptr %".410", align 4
  %".412" = getelementptr inbounds float, ptr %".16", i64 %".409"
  store float %".411", ptr %".412", align 4
  %".414" = add i64 %"i.13", 1
  br label %"loop.13"
done.13:
  br label %"end.4"
then.5:
  %".418" = icmp slt i64 %".141", 0
  %".419" = sub i64 0, %".141"
  %".420" = select  i1 %".418", i64 %".419", i64 0
  %".421" = sub i64 4, %".141"
  %".422" = icmp slt i64 %".421", 4
  %".423" = select  i1 %".422", i64 %".421", i64 4
  br label %"loop.14"
end.5:
  ret void
loop.14:
  %"i.14" = phi  i64 [%".420", %"then.5"], [%".432", %"body.14"]
  %".425" = icmp slt i64 %"i.14", %".423"
  br i1 %".425", label %"body.14", label %"done.14"
body.14:
  %".427" = add i64 %".141", %"i.14"
  %".428" = getelementptr inbounds float, ptr %".144", i64 %"i.14"
  %".429" = load float, ptr %".428", align 4
  %".430" = getelementptr inbounds float, ptr %".18", i64 %".427"
  store float %".429", ptr %".430", align 4
  %".432" = add i64 %"i.14", 1
  br label %"loop.14"
done.14:
  br label %"end.5"
}
