; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
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
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".348", %"end.3"]
  %".24" = icmp slt i64 %"i", %".12"
  br i1 %".24", label %"body", label %"done"
body:
  %".26" = trunc i64 %".15" to i32
  %".27" = trunc i64 %".13" to i32
  %".28" = trunc i64 %"i" to i32
  %".29" = trunc i64 %".8" to i32
  %".30" = trunc i64 %".10" to i32
  %".31" = trunc i64 %".12" to i32
  %".32" = trunc i64 %".15" to i32
  %".33" = trunc i64 %".13" to i32
  %".34" = trunc i64 %"i" to i32
  %".35" = sext i32 %".32" to i64
  %".36" = sext i32 %".34" to i64
  %".37" = mul i64 %".35", 4
  %".38" = mul i64 %".36", 8
  %".39" = icmp ule i64 %".37", 4
  %".40" = icmp ule i64 %".38", 8
  %".41" = and i1 %".39", %".40"
  %".42" = mul i64 %".37", 16
  %".43" = add i64 %".42", %".38"
  %".44" = getelementptr float, ptr %".18", i64 %".43"
  %".45" = getelementptr i8, ptr %".3", i64 0
  %".46" = xor i1 %".41", -1
  br i1 %".46", label %"then", label %"end"
done:
  ret void
then:
  br label %"loop.1"
end:
  %".89" = select  i1 %".41", ptr %".44", ptr %".45"
  %".90" = select  i1 %".41", i64 16, i64 8
  %".91" = trunc i64 %".15" to i32
  %".92" = trunc i64 %".13" to i32
  %".93" = trunc i64 %"i" to i32
  %".94" = sext i32 %".93" to i64
  %".95" = sext i32 %".92" to i64
  %".96" = mul i64 %".94", 8
  %".97" = mul i64 %".95", 6
  %".98" = icmp ule i64 %".96", 8
  %".99" = icmp ule i64 %".97", 6
  %".100" = and i1 %".98", %".99"
  %".101" = mul i64 %".96", 12
  %".102" = add i64 %".101", %".97"
  %".103" = getelementptr float, ptr %".20", i64 %".102"
  %".104" = getelementptr i8, ptr %".3", i64 128
  %".105" = xor i1 %".100", -1
  br i1 %".105", label %"then.1", label %"end.1"
loop.1:
  %"i.1" = phi  i64 [0, %"then"], [%".54", %"body.1"]
  %".49" = icmp slt i64 %"i.1", 4
  br i1 %".49", label %"body.1", label %"done.1"
body.1:
  %".51" = mul i64 %"i.1", 8
  %".52" = getelementptr inbounds float, ptr %".45", i64 %".51"
  store <8 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".52", align 4
  %".54" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  %".56" = icmp slt i64 %".37", 0
  %".57" = sub i64 0, %".37"
  %".58" = select  i1 %".56", i64 %".57", i64 0
  %".59" = sub i64 8, %".37"
  %".60" = icmp slt i64 %".59", 4
  %".61" = select  i1 %".60", i64 %".59", i64 4
  %".62" = icmp slt i64 %".38", 0
  %".63" = sub i64 0, %".38"
  %".64" = select  i1 %".62", i64 %".63", i64 0
  %".65" = sub i64 16, %".38"
  %".66" = icmp slt i64 %".65", 8
  %".67" = select  i1 %".66", i64 %".65", i64 8
  br label %"loop.2"
loop.2:
  %"i.2" = phi  i64 [%".58", %"done.1"], [%".86", %"done.3"]
  %".69" = icmp slt i64 %"i.2", %".61"
  br i1 %".69", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".64", %"body.2"], [%".84", %"body.3"]
  %".72" = icmp slt i64 %"i.3", %".67"
  br i1 %".72", label %"body.3", label %"done.3"
body.3:
  %".74" = add i64 %".37", %"i.2"
  %".75" = add i64 %".38", %"i.3"
  %".76" = mul i64 %".74", 16
  %".77" = add i64 %".76", %".75"
  %".78" = getelementptr inbounds float, ptr %".18", i64 %".77"
  %".79" = load float, ptr %".78", align 4
  %".80" = mul i64 %"i.2", 8
  %".81" = add i64 %".80", %"i.3"
  %".82" = getelementptr inbounds float, ptr %".45", i64 %".81"
  store float %".79", ptr %".82", align 4
  %".84" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".86" = add i64 %"i.2", 1
  br label %"loop.2"
then.1:
  br label %"loop.4"
end.1:
  %".148" = select  i1 %".100", ptr %".103", ptr %".104"
  %".149" = select  i1 %".100", i64 12, i64 6
  %".150" = trunc i64 %".15" to i32
  %".151" = trunc i64 %".13" to i32
  %".152" = trunc i64 %"i" to i32
  %".153" = sext i32 %".150" to i64
  %".154" = sext i32 %".151" to i64
  %".155" = mul i64 %".153", 4
  %".156" = mul i64 %".154", 6
  %".157" = icmp ule i64 %".155", 4
  %".158" = icmp ule i64 %".156", 6
  %".159" = and i1 %".157", %".158"
  %".160" = mul i64 %".155", 12
  %".161" = add i64 %".160", %".156"
  %".162" = getelementptr float, ptr %".22", i64 %".161"
  %".163" = getelementptr i8, ptr %".3", i64 320
  %".164" = xor i1 %".159", -1
  br i1 %".164", label %"then.2", label %"end.2"
loop.4:
  %"i.4" = phi  i64 [0, %"then.1"], [%".113", %"body.4"]
  %".108" = icmp slt i64 %"i.4", 8
  br i1 %".108", label %"body.4", label %"done.4"
body.4:
  %".110" = mul i64 %"i.4", 6
  %".111" = getelementptr inbounds float, ptr %".104", i64 %".110"
  store <6 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".111", align 4
  %".113" = add i64 %"i.4", 1
  br label %"loop.4"
done.4:
  %".115" = icmp slt i64 %".96", 0
  %".116" = sub i64 0, %".96"
  %".117" = select  i1 %".115", i64 %".116", i64 0
  %".118" = sub i64 16, %".96"
  %".119" = icmp slt i64 %".118", 8
  %".120" = select  i1 %".119", i64 %".118", i64 8
  %".121" = icmp slt i64 %".97", 0
  %".122" = sub i64 0, %".97"
  %".123" = select  i1 %".121", i64 %".122", i64 0
  %".124" = sub i64 12, %".97"
  %".125" = icmp slt i64 %".124", 6
  %".126" = select  i1 %".125", i64 %".124", i64 6
  br label %"loop.5"
loop.5:
  %"i.5" = phi  i64 [%".117", %"done.4"], [%".145", %"done.6"]
  %".128" = icmp slt i64 %"i.5", %".120"
  br i1 %".128", label %"body.5", label %"done.5"
body.5:
  br label %"loop.6"
done.5:
  br label %"end.1"
loop.6:
  %"i.6" = phi  i64 [%".123", %"body.5"], [%".143", %"body.6"]
  %".131" = icmp slt i64 %"i.6", %".126"
  br i1 %".131", label %"body.6", label %"done.6"
body.6:
  %".133" = add i64 %".96", %"i.5"
  %".134" = add i64 %".97", %"i.6"
  %".135" = mul i64 %".133", 12
  %".136" = add i64 %".135", %".134"
  %".137" = getelementptr inbounds float, ptr %".20", i64 %".136"
  %".138" = load float, ptr %".137", align 4
  %".139" = mul i64 %"i.5", 6
  %".140" = add i64 %".139", %"i.6"
  %".141" = getelementptr inbounds float, ptr %".104", i64 %".140"
  store float %".138", ptr %".141", align 4
  %".143" = add i64 %"i.6", 1
  br label %"loop.6"
done.6:
  %".145" = add i64 %"i.5", 1
  br label %"loop.5"
then.2:
  br label %"loop.7"
end.2:
  %".207" = select  i1 %".159", ptr %".162", ptr %".163"
  %".208" = select  i1 %".159", i64 12, i64 6
  %".209" = icmp eq i32 %".28", 0
  %".210" = zext i1 %".209" to i32
  %".211" = sext i32 %".210" to i64
  %".212" = icmp slt i64 %".211", 0
  %".213" = select  i1 %".212", i64 0, i64 %".211"
  switch i64 %".213", label %"case.1" [i64 0, label %"case.0"]
loop.7:
  %"i.7" = phi  i64 [0, %"then.2"], [%".172", %"body.7"]
  %".167" = icmp slt i64 %"i.7", 4
  br i1 %".167", label %"body.7", label %"done.7"
body.7:
  %".169" = mul i64 %"i.7", 6
  %".170" = getelementptr inbounds float, ptr %".163", i64 %".169"
  store <6 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".170", align 4
  %".172" = add i64 %"i.7", 1
  br label %"loop.7"
done.7:
  %".174" = icmp slt i64 %".155", 0
  %".175" = sub i64 0, %".155"
  %".176" = select  i1 %".174", i64 %".175", i64 0
  %".177" = sub i64 8, %".155"
  %".178" = icmp slt i64 %".177", 4
  %".179" = select  i1 %".178", i64 %".177", i64 4
  %".180" = icmp slt i64 %".156", 0
  %".181" = sub i64 0, %".156"
  %".182" = select  i1 %".180", i64 %".181", i64 0
  %".183" = sub i64 12, %".156"
  %".184" = icmp slt i64 %".183", 6
  %".185" = select  i1 %".184", i64 %".183", i64 6
  br label %"loop.8"
loop.8:
  %"i.8" = phi  i64 [%".176", %"done.7"], [%".204", %"done.9"]
  %".187" = icmp slt i64 %"i.8", %".179"
  br i1 %".187", label %"body.8", label %"done.8"
body.8:
  br label %"loop.9"
done.8:
  br label %"end.2"
loop.9:
  %"i.9" = phi  i64 [%".182", %"body.8"], [%".202", %"body.9"]
  %".190" = icmp slt i64 %"i.9", %".185"
  br i1 %".190", label %"body.9", label %"done.9"
body.9:
  %".192" = add i64 %".155", %"i.8"
  %".193" = add i64 %".156", %"i.9"
  %".194" = mul i64 %".192", 12
  %".195" = add i64 %".194", %".193"
  %".196" = getelementptr inbounds float, ptr %".22", i64 %".195"
  %".197" = load float, ptr %".196", align 4
  %".198" = mul i64 %"i.8", 6
  %".199" = add i64 %".198", %"i.9"
  %".200" = getelementptr inbounds float, ptr %".163", i64 %".199"
  store float %".197", ptr %".200", align 4
  %".202" = add i64 %"i.9", 1
  br label %"loop.9"
done.9:
  %".204" = add i64 %"i.8", 1
  br label %"loop.8"
switch.done:
  %".227" = getelementptr i8, ptr %".3", i64 448
  br label %"loop.11"
case.0:
  br label %"switch.done"
case.1:
  br label %"loop.10"
loop.10:
  %"i.10" = phi  i64 [0, %"case.1"], [%".224", %"body.10"]
  %".217" = icmp slt i64 %"i.10", 4
  br i1 %".217", label %"body.10", label %"done.10"
body.10:
  %".219" = insertelement <6 x float> <float undef, float undef, float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".220" = shufflevector <6 x float> %".219", <6 x float> <float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".221" = mul i64 %"i.10", %".208"
  %".222" = getelementptr inbounds float, ptr %".207", i64 %".221"
  store <6 x float> %".220", ptr %".222", align 4
  %".224" = add i64 %"i.10", 1
  br label %"loop.10"
done.10:
  br label %"switch.done"
loop.11:
  %"i.11" = phi  i64 [0, %"switch.done"], [%".312", %"k.done"]
  %".229" = icmp slt i64 %"i.11", 6
  br i1 %".229", label %"body.11", label %"done.11"
body.11:
  %".231" = getelementptr inbounds float, ptr %".207", i64 %"i.11"
  %".232" = load <6 x float>, ptr %".231", align 4
  %".233" = shufflevector <6 x float> %".232", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".234" = add i64 %".208", %"i.11"
  %".235" = getelementptr inbounds float, ptr %".207", i64 %".234"
  %".236" = load <6 x float>, ptr %".235", align 4
  %".237" = shufflevector <6 x float> %".236", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".238" = mul i64 2, %".208"
  %".239" = add i64 %".238", %"i.11"
  %".240" = getelementptr inbounds float, ptr %".207", i64 %".239"
  %".241" = load <6 x float>, ptr %".240", align 4
  %".242" = shufflevector <6 x float> %".241", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".243" = mul i64 3, %".208"
  %".244" = add i64 %".243", %"i.11"
  %".245" = getelementptr inbounds float, ptr %".207", i64 %".244"
  %".246" = load <6 x float>, ptr %".245", align 4
  %".247" = shufflevector <6 x float> %".246", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  br label %"k"
done.11:
  br i1 %".164", label %"then.3", label %"end.3"
k:
  %".249" = phi  i64 [0, %"body.11"], [%".293", %"k.body"]
  %".250" = phi  <16 x float> [%".233", %"body.11"], [%".272", %"k.body"]
  %".251" = phi  <16 x float> [%".237", %"body.11"], [%".278", %"k.body"]
  %".252" = phi  <16 x float> [%".242", %"body.11"], [%".285", %"k.body"]
  %".253" = phi  <16 x float> [%".247", %"body.11"], [%".292", %"k.body"]
  %".254" = icmp slt i64 %".249", 8
  br i1 %".254", label %"k.body", label %"k.done"
k.body:
  %".256" = add i64 %".249", 32
  %".257" = icmp slt i64 %".256", 7
  %".258" = select  i1 %".257", i64 %".256", i64 7
  %".259" = mul i64 %".258", %".149"
  %".260" = add i64 %".259", %"i.11"
  %".261" = getelementptr inbounds float, ptr %".148", i64 %".260"
  call void @"llvm.prefetch.p0"(ptr %".261", i32 0, i32 3, i32 1)
  %".263" = mul i64 %".249", %".149"
  %".264" = add i64 %".263", %"i.11"
  %".265" = getelementptr inbounds float, ptr %".148", i64 %".264"
  %".266" = load <6 x float>, ptr %".265", align 4
  %".267" = shufflevector <6 x float> %".266", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".268" = getelementptr inbounds float, ptr %".89", i64 %".249"
  %".269" = load float, ptr %".268", align 4
  %".270" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".269", i32 0
  %".271" = shufflevector <16 x float> %".270", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".272" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".271", <16 x float> %".267", <16 x float> %".250")
  %".273" = add i64 %".90", %".249"
  %".274" = getelementptr inbounds float, ptr %".89", i64 %".273"
  %".275" = load float, ptr %".274", align 4
  %".276" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".275", i32 0
  %".277" = shufflevector <16 x float> %".276", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".278" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".277", <16 x float> %".267", <16 x float> %".251")
  %".279" = mul i64 2, %".90"
  %".280" = add i64 %".279", %".249"
  %".281" = getelementptr inbounds float, ptr %".89", i64 %".280"
  %".282" = load float, ptr %".281", align 4
  %".283" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".282", i32 0
  %".284" = shufflevector <16 x float> %".283", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".285" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".284", <16 x float> %".267", <16 x float> %".252")
  %".286" = mul i64 3, %".90"
  %".287" = add i64 %".286", %".249"
  %".288" = getelementptr inbounds float, ptr %".89", i64 %".287"
  %".289" = load float, ptr %".288", align 4
  %".290" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".289", i32 0
  %".291" = shufflevector <16 x float> %".290", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".292" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".291", <16 x float> %".267", <16 x float> %".253")
  %".293" = add i64 %".249", 1
  br label %"k"
k.done:
  %".295" = shufflevector <16 x float> %".250", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".296" = getelementptr inbounds float, ptr %".207", i64 %"i.11"
  store <6 x float> %".295", ptr %".296", align 4
  %".298" = shufflevector <16 x float> %".251", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".299" = add i64 %".208", %"i.11"
  %".300" = getelementptr inbounds float, ptr %".207", i64 %".299"
  store <6 x float> %".298", ptr %".300", align 4
  %".302" = shufflevector <16 x float> %".252", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".303" = mul i64 2, %".208"
  %".304" = add i64 %".303", %"i.11"
  %".305" = getelementptr inbounds float, ptr %".207", i64 %".304"
  store <6 x float> %".302", ptr %".305", align 4
  %".307" = shufflevector <16 x float> %".253", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".308" = mul i64 3, %".208"
  %".309" = add i64 %".308", %"i.11"
  %".310" = getelementptr inbounds float, ptr %".207", i64 %".309"
  store <6 x float> %".307", ptr %".310", align 4
  %".312" = add i64 %"i.11", 6
  br label %"loop.11"
then.3:
  %".315" = icmp slt i64 %".155", 0
  %".316" = sub i64 0, %".155"
  %".317" = select  i1 %".315", i64 %".316", i64 0
  %".318" = sub i64 8, %".155"
  %".319" = icmp slt i64 %".318", 4
  %".320" = select  i1 %".319", i64 %".318", i64 4
  %".321" = icmp slt i64 %".156", 0
  %".322" = sub i64 0, %".156"
  %".323" = select  i1 %".321", i64 %".322", i64 0
  %".324" = sub i64 12, %".156"
  %".325" = icmp slt i64 %".324", 6
  %".326" = select  i1 %".325", i64 %".324", i64 6
  br label %"loop.12"
end.3:
  %".348" = add i64 %"i", 1
  br label %"loop"
loop.12:
  %"i.12" = phi  i64 [%".317", %"then.3"], [%".345", %"done.13"]
  %".328" = icmp slt i64 %"i.12", %".320"
  br i1 %".328", label %"body.12", label %"done.12"
body.12:
  br label %"loop.13"
done.12:
  br label %"end.3"
loop.13:
  %"i.13" = phi  i64 [%".323", %"body.12"], [%".343", %"body.13"]
  %".331" = icmp slt i64 %"i.13", %".326"
  br i1 %".331", label %"body.13", label %"done.13"
body.13:
  %".333" = add i64 %".155", %"i.12"
  %".334" = add i64 %".156", %"i.13"
  %".335" = mul i64 %"i.12", 6
  %".336" = add i64 %".335", %"i.13"
  %".337" = getelementptr inbounds float, ptr %".163", i64 %".336"
  %".338" = load float, ptr %".337", align 4
  %".339" = mul i64 %".333", 12
  %".340" = add i64 %".339", %".334"
  %".341" = getelementptr inbounds float, ptr %".22", i64 %".340"
  store float %".338", ptr %".341", align 4
  %".343" = add i64 %"i.13", 1
  br label %"loop.13"
done.13:
  %".345" = add i64 %"i.12", 1
  br label %"loop.12"
}
