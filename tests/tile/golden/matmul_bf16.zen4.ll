; zen4
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
  %".13" = urem i64 %".4", %".12"
  %".14" = udiv i64 %".4", %".12"
  %".15" = urem i64 %".14", %".10"
  %".16" = udiv i64 %".14", %".10"
  %".17" = urem i64 %".16", %".8"
  %".18" = udiv i64 %".16", %".8"
  %".19" = getelementptr ptr, ptr %".1", i64 0
  %".20" = load ptr, ptr %".19"
  %".21" = getelementptr ptr, ptr %".1", i64 1
  %".22" = load ptr, ptr %".21"
  %".23" = getelementptr ptr, ptr %".1", i64 2
  %".24" = load ptr, ptr %".23"
  %".25" = trunc i64 %".17" to i32
  %".26" = trunc i64 %".15" to i32
  %".27" = trunc i64 %".13" to i32
  %".28" = trunc i64 %".8" to i32
  %".29" = trunc i64 %".10" to i32
  %".30" = trunc i64 %".12" to i32
  %".31" = trunc i64 %".17" to i32
  %".32" = trunc i64 %".15" to i32
  %".33" = trunc i64 %".13" to i32
  %".34" = sext i32 %".31" to i64
  %".35" = sext i32 %".33" to i64
  %".36" = mul i64 %".34", 4
  %".37" = mul i64 %".35", 6
  %".38" = icmp ule i64 %".36", 0
  %".39" = icmp ule i64 %".37", 0
  %".40" = and i1 %".38", %".39"
  %".41" = mul i64 %".36", 6
  %".42" = add i64 %".41", %".37"
  %".43" = getelementptr i16, ptr %".20", i64 %".42"
  %".44" = getelementptr i8, ptr %".3", i64 0
  %".45" = xor i1 %".40", -1
  br i1 %".45", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".111" = select  i1 %".40", ptr %".43", ptr %".44"
  %".112" = trunc i64 %".17" to i32
  %".113" = trunc i64 %".15" to i32
  %".114" = trunc i64 %".13" to i32
  %".115" = sext i32 %".114" to i64
  %".116" = sext i32 %".113" to i64
  %".117" = mul i64 %".115", 6
  %".118" = mul i64 %".116", 16
  %".119" = icmp ule i64 %".117", 0
  %".120" = icmp ule i64 %".118", 0
  %".121" = and i1 %".119", %".120"
  %".122" = mul i64 %".117", 16
  %".123" = add i64 %".122", %".118"
  %".124" = getelementptr i16, ptr %".22", i64 %".123"
  %".125" = getelementptr i8, ptr %".3", i64 64
  %".126" = xor i1 %".121", -1
  br i1 %".126", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".63", %"body"]
  %".48" = icmp slt i64 %"i", 4
  br i1 %".48", label %"body", label %"done"
body:
  %".50" = mul i64 %"i", 6
  %".51" = getelementptr inbounds i16, ptr %".44", i64 %".50"
  %".52" = bitcast <6 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000> to <6 x i32>
  %".53" = lshr <6 x i32> %".52", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".54" = and <6 x i32> %".53", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".55" = add <6 x i32> %".54", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".56" = add <6 x i32> %".52", %".55"
  %".57" = fcmp uno <6 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>
  %".58" = or <6 x i32> %".52", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".59" = select  <6 x i1> %".57", <6 x i32> %".58", <6 x i32> %".56"
  %".60" = lshr <6 x i32> %".59", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".61" = trunc <6 x i32> %".60" to <6 x i16>
  store <6 x i16> %".61", ptr %".51", align 2
  %".63" = add i64 %"i", 1
  br label %"loop"
done:
  %".65" = icmp slt i64 %".36", 0
  %".66" = sub i64 0, %".36"
  %".67" = select  i1 %".65", i64 %".66", i64 0
  %".68" = sub i64 4, %".36"
  %".69" = icmp slt i64 %".68", 4
  %".70" = select  i1 %".69", i64 %".68", i64 4
  %".71" = icmp slt i64 %".37", 0
  %".72" = sub i64 0, %".37"
  %".73" = select  i1 %".71", i64 %".72", i64 0
  %".74" = sub i64 6, %".37"
  %".75" = icmp slt i64 %".74", 6
  %".76" = select  i1 %".75", i64 %".74", i64 6
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [%".67", %"done"], [%".108", %"done.2"]
  %".78" = icmp slt i64 %"i.1", %".70"
  br i1 %".78", label %"body.1", label %"done.1"
body.1:
  br label %"loop.2"
done.1:
  br label %"end"
loop.2:
  %"i.2" = phi  i64 [%".73", %"body.1"], [%".106", %"body.2"]
  %".81" = icmp slt i64 %"i.2", %".76"
  br i1 %".81", label %"body.2", label %"done.2"
body.2:
  %".83" = add i64 %".36", %"i.1"
  %".84" = add i64 %".37", %"i.2"
  %".85" = mul i64 %".83", 6
  %".86" = add i64 %".85", %".84"
  %".87" = getelementptr inbounds i16, ptr %".20", i64 %".86"
  %".88" = load i16, ptr %".87", align 2
  %".89" = zext i16 %".88" to i32
  %".90" = shl i32 %".89", 16
  %".91" = bitcast i32 %".90" to float
  %".92" = mul i64 %"i.1", 6
  %".93" = add i64 %".92", %"i.2"
  %".94" = getelementptr inbounds i16, ptr %".44", i64 %".93"
  %".95" = bitcast float %".91" to i32
  %".96" = lshr i32 %".95", 16
  %".97" = and i32 %".96", 1
  %".98" = add i32 %".97", 32767
  %".99" = add i32 %".95", %".98"
  %".100" = fcmp uno float %".91", %".91"
  %".101" = or i32 %".95", 4194304
  %".102" = select  i1 %".100", i32 %".101", i32 %".99"
  %".103" = lshr i32 %".102", 16
  %".104" = trunc i32 %".103" to i16
  store i16 %".104", ptr %".94", align 2
  %".106" = add i64 %"i.2", 1
  br label %"loop.2"
done.2:
  %".108" = add i64 %"i.1", 1
  br label %"loop.1"
then.1:
  br label %"loop.3"
end.1:
  %".192" = select  i1 %".121", ptr %".124", ptr %".125"
  %".193" = trunc i64 %".17" to i32
  %".194" = trunc i64 %".15" to i32
  %".195" = trunc i64 %".13" to i32
  %".196" = sext i32 %".193" to i64
  %".197" = sext i32 %".194" to i64
  %".198" = mul i64 %".196", 4
  %".199" = mul i64 %".197", 16
  %".200" = icmp ule i64 %".198", 0
  %".201" = icmp ule i64 %".199", 0
  %".202" = and i1 %".200", %".201"
  %".203" = mul i64 %".198", 16
  %".204" = add i64 %".203", %".199"
  %".205" = getelementptr i16, ptr %".24", i64 %".204"
  %".206" = getelementptr i8, ptr %".3", i64 256
  %".207" = xor i1 %".202", -1
  br i1 %".207", label %"then.2", label %"end.2"
loop.3:
  %"i.3" = phi  i64 [0, %"then.1"], [%".144", %"body.3"]
  %".129" = icmp slt i64 %"i.3", 6
  br i1 %".129", label %"body.3", label %"done.3"
body.3:
  %".131" = mul i64 %"i.3", 16
  %".132" = getelementptr inbounds i16, ptr %".125", i64 %".131"
  %".133" = bitcast <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000> to <16 x i32>
  %".134" = lshr <16 x i32> %".133", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".135" = and <16 x i32> %".134", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".136" = add <16 x i32> %".135", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".137" = add <16 x i32> %".133", %".136"
  %".138" = fcmp uno <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>
  %".139" = or <16 x i32> %".133", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".140" = select  <16 x i1> %".138", <16 x i32> %".139", <16 x i32> %".137"
  %".141" = lshr <16 x i32> %".140", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".142" = trunc <16 x i32> %".141" to <16 x i16>
  store <16 x i16> %".142", ptr %".132", align 2
  %".144" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".146" = icmp slt i64 %".117", 0
  %".147" = sub i64 0, %".117"
  %".148" = select  i1 %".146", i64 %".147", i64 0
  %".149" = sub i64 6, %".117"
  %".150" = icmp slt i64 %".149", 6
  %".151" = select  i1 %".150", i64 %".149", i64 6
  %".152" = icmp slt i64 %".118", 0
  %".153" = sub i64 0, %".118"
  %".154" = select  i1 %".152", i64 %".153", i64 0
  %".155" = sub i64 16, %".118"
  %".156" = icmp slt i64 %".155", 16
  %".157" = select  i1 %".156", i64 %".155", i64 16
  br label %"loop.4"
loop.4:
  %"i.4" = phi  i64 [%".148", %"done.3"], [%".189", %"done.5"]
  %".159" = icmp slt i64 %"i.4", %".151"
  br i1 %".159", label %"body.4", label %"done.4"
body.4:
  br label %"loop.5"
done.4:
  br label %"end.1"
loop.5:
  %"i.5" = phi  i64 [%".154", %"body.4"], [%".187", %"body.5"]
  %".162" = icmp slt i64 %"i.5", %".157"
  br i1 %".162", label %"body.5", label %"done.5"
body.5:
  %".164" = add i64 %".117", %"i.4"
  %".165" = add i64 %".118", %"i.5"
  %".166" = mul i64 %".164", 16
  %".167" = add i64 %".166", %".165"
  %".168" = getelementptr inbounds i16, ptr %".22", i64 %".167"
  %".169" = load i16, ptr %".168", align 2
  %".170" = zext i16 %".169" to i32
  %".171" = shl i32 %".170", 16
  %".172" = bitcast i32 %".171" to float
  %".173" = mul i64 %"i.4", 16
  %".174" = add i64 %".173", %"i.5"
  %".175" = getelementptr inbounds i16, ptr %".125", i64 %".174"
  %".176" = bitcast float %".172" to i32
  %".177" = lshr i32 %".176", 16
  %".178" = and i32 %".177", 1
  %".179" = add i32 %".178", 32767
  %".180" = add i32 %".176", %".179"
  %".181" = fcmp uno float %".172", %".172"
  %".182" = or i32 %".176", 4194304
  %".183" = select  i1 %".181", i32 %".182", i32 %".180"
  %".184" = lshr i32 %".183", 16
  %".185" = trunc i32 %".184" to i16
  store i16 %".185", ptr %".175", align 2
  %".187" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  %".189" = add i64 %"i.4", 1
  br label %"loop.4"
then.2:
  br label %"loop.6"
end.2:
  %".273" = select  i1 %".202", ptr %".205", ptr %".206"
  %".274" = getelementptr i8, ptr %".3", i64 384
  %".275" = getelementptr i8, ptr %".3", i64 896
  %".276" = getelementptr i8, ptr %".3", i64 1024
  br label %"loop.9"
loop.6:
  %"i.6" = phi  i64 [0, %"then.2"], [%".225", %"body.6"]
  %".210" = icmp slt i64 %"i.6", 4
  br i1 %".210", label %"body.6", label %"done.6"
body.6:
  %".212" = mul i64 %"i.6", 16
  %".213" = getelementptr inbounds i16, ptr %".206", i64 %".212"
  %".214" = bitcast <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000> to <16 x i32>
  %".215" = lshr <16 x i32> %".214", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".216" = and <16 x i32> %".215", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".217" = add <16 x i32> %".216", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".218" = add <16 x i32> %".214", %".217"
  %".219" = fcmp uno <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>
  %".220" = or <16 x i32> %".214", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".221" = select  <16 x i1> %".219", <16 x i32> %".220", <16 x i32> %".218"
  %".222" = lshr <16 x i32> %".221", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".223" = trunc <16 x i32> %".222" to <16 x i16>
  store <16 x i16> %".223", ptr %".213", align 2
  %".225" = add i64 %"i.6", 1
  br label %"loop.6"
done.6:
  %".227" = icmp slt i64 %".198", 0
  %".228" = sub i64 0, %".198"
  %".229" = select  i1 %".227", i64 %".228", i64 0
  %".230" = sub i64 4, %".198"
  %".231" = icmp slt i64 %".230", 4
  %".232" = select  i1 %".231", i64 %".230", i64 4
  %".233" = icmp slt i64 %".199", 0
  %".234" = sub i64 0, %".199"
  %".235" = select  i1 %".233", i64 %".234", i64 0
  %".236" = sub i64 16, %".199"
  %".237" = icmp slt i64 %".236", 16
  %".238" = select  i1 %".237", i64 %".236", i64 16
  br label %"loop.7"
loop.7:
  %"i.7" = phi  i64 [%".229", %"done.6"], [%".270", %"done.8"]
  %".240" = icmp slt i64 %"i.7", %".232"
  br i1 %".240", label %"body.7", label %"done.7"
body.7:
  br label %"loop.8"
done.7:
  br label %"end.2"
loop.8:
  %"i.8" = phi  i64 [%".235", %"body.7"], [%".268", %"body.8"]
  %".243" = icmp slt i64 %"i.8", %".238"
  br i1 %".243", label %"body.8", label %"done.8"
body.8:
  %".245" = add i64 %".198", %"i.7"
  %".246" = add i64 %".199", %"i.8"
  %".247" = mul i64 %".245", 16
  %".248" = add i64 %".247", %".246"
  %".249" = getelementptr inbounds i16, ptr %".24", i64 %".248"
  %".250" = load i16, ptr %".249", align 2
  %".251" = zext i16 %".250" to i32
  %".252" = shl i32 %".251", 16
  %".253" = bitcast i32 %".252" to float
  %".254" = mul i64 %"i.7", 16
  %".255" = add i64 %".254", %"i.8"
  %".256" = getelementptr inbounds i16, ptr %".206", i64 %".255"
  %".257" = bitcast float %".253" to i32
  %".258" = lshr i32 %".257", 16
  %".259" = and i32 %".258", 1
  %".260" = add i32 %".259", 32767
  %".261" = add i32 %".257", %".260"
  %".262" = fcmp uno float %".253", %".253"
  %".263" = or i32 %".257", 4194304
  %".264" = select  i1 %".262", i32 %".263", i32 %".261"
  %".265" = lshr i32 %".264", 16
  %".266" = trunc i32 %".265" to i16
  store i16 %".266", ptr %".256", align 2
  %".268" = add i64 %"i.8", 1
  br label %"loop.8"
done.8:
  %".270" = add i64 %"i.7", 1
  br label %"loop.7"
loop.9:
  %"i.9" = phi  i64 [0, %"end.2"], [%".427", %"body.9"]
  %".278" = icmp slt i64 %"i.9", 4
  br i1 %".278", label %"body.9", label %"done.9"
body.9:
  %".280" = mul i64 %"i.9", 3
  %".281" = getelementptr inbounds i32, ptr %".275", i64 %".280"
  %".282" = mul i64 %"i.9", 6
  %".283" = getelementptr inbounds i16, ptr %".111", i64 %".282"
  %".284" = load <6 x i16>, ptr %".283", align 2
  %".285" = zext <6 x i16> %".284" to <6 x i32>
  %".286" = shl <6 x i32> %".285", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".287" = bitcast <6 x i32> %".286" to <6 x float>
  %".288" = bitcast <6 x float> %".287" to <6 x i32>
  %".289" = lshr <6 x i32> %".288", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".290" = and <6 x i32> %".289", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".291" = add <6 x i32> %".290", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".292" = add <6 x i32> %".288", %".291"
  %".293" = fcmp uno <6 x float> %".287", %".287"
  %".294" = or <6 x i32> %".288", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".295" = select  <6 x i1> %".293", <6 x i32> %".294", <6 x i32> %".292"
  %".296" = lshr <6 x i32> %".295", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".297" = trunc <6 x i32> %".296" to <6 x i16>
  %".298" = shufflevector <6 x i16> %".297", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".299" = bitcast <32 x i16> %".298" to <16 x i32>
  %".300" = add i64 %"i.9", 1
  %".301" = mul i64 %".300", 6
  %".302" = getelementptr inbounds i16, ptr %".111", i64 %".301"
  %".303" = load <6 x i16>, ptr %".302", align 2
  %".304" = zext <6 x i16> %".303" to <6 x i32>
  %".305" = shl <6 x i32> %".304", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".306" = bitcast <6 x i32> %".305" to <6 x float>
  %".307" = bitcast <6 x float> %".306" to <6 x i32>
  %".308" = lshr <6 x i32> %".307", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".309" = and <6 x i32> %".308", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".310" = add <6 x i32> %".309", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".311" = add <6 x i32> %".307", %".310"
  %".312" = fcmp uno <6 x float> %".306", %".306"
  %".313" = or <6 x i32> %".307", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".314" = select  <6 x i1> %".312", <6 x i32> %".313", <6 x i32> %".311"
  %".315" = lshr <6 x i32> %".314", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".316" = trunc <6 x i32> %".315" to <6 x i16>
  %".317" = shufflevector <6 x i16> %".316", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".318" = bitcast <32 x i16> %".317" to <16 x i32>
  %".319" = add i64 %"i.9", 2
  %".320" = mul i64 %".319", 6
  %".321" = getelementptr inbounds i16, ptr %".111", i64 %".320"
  %".322" = load <6 x i16>, ptr %".321", align 2
  %".323" = zext <6 x i16> %".322" to <6 x i32>
  %".324" = shl <6 x i32> %".323", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".325" = bitcast <6 x i32> %".324" to <6 x float>
  %".326" = bitcast <6 x float> %".325" to <6 x i32>
  %".327" = lshr <6 x i32> %".326", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".328" = and <6 x i32> %".327", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".329" = add <6 x i32> %".328", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".330" = add <6 x i32> %".326", %".329"
  %".331" = fcmp uno <6 x float> %".325", %".325"
  %".332" = or <6 x i32> %".326", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".333" = select  <6 x i1> %".331", <6 x i32> %".332", <6 x i32> %".330"
  %".334" = lshr <6 x i32> %".333", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".335" = trunc <6 x i32> %".334" to <6 x i16>
  %".336" = shufflevector <6 x i16> %".335", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".337" = bitcast <32 x i16> %".336" to <16 x i32>
  %".338" = add i64 %"i.9", 3
  %".339" = mul i64 %".338", 6
  %".340" = getelementptr inbounds i16, ptr %".111", i64 %".339"
  %".341" = load <6 x i16>, ptr %".340", align 2
  %".342" = zext <6 x i16> %".341" to <6 x i32>
  %".343" = shl <6 x i32> %".342", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".344" = bitcast <6 x i32> %".343" to <6 x float>
  %".345" = bitcast <6 x float> %".344" to <6 x i32>
  %".346" = lshr <6 x i32> %".345", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".347" = and <6 x i32> %".346", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".348" = add <6 x i32> %".347", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".349" = add <6 x i32> %".345", %".348"
  %".350" = fcmp uno <6 x float> %".344", %".344"
  %".351" = or <6 x i32> %".345", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".352" = select  <6 x i1> %".350", <6 x i32> %".351", <6 x i32> %".349"
  %".353" = lshr <6 x i32> %".352", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".354" = trunc <6 x i32> %".353" to <6 x i16>
  %".355" = shufflevector <6 x i16> %".354", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".356" = bitcast <32 x i16> %".355" to <16 x i32>
  %".357" = shufflevector <16 x i32> %".299", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".358" = shufflevector <16 x i32> %".299", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".359" = shufflevector <16 x i32> %".318", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".360" = shufflevector <16 x i32> %".318", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".361" = shufflevector <16 x i32> %".337", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".362" = shufflevector <16 x i32> %".337", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".363" = shufflevector <16 x i32> %".356", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".364" = shufflevector <16 x i32> %".356", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".365" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".366" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".367" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".368" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".369" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".370" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".371" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".372" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".373" = shufflevector <16 x i32> %".357", <16 x i32> %".365", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".374" = shufflevector <16 x i32> %".357", <16 x i32> %".365", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".375" = shufflevector <16 x i32> %".359", <16 x i32> %".367", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".376" = shufflevector <16 x i32> %".359", <16 x i32> %".367", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".377" = shufflevector <16 x i32> %".361", <16 x i32> %".369", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".378" = shufflevector <16 x i32> %".361", <16 x i32> %".369", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".379" = shufflevector <16 x i32> %".363", <16 x i32> %".371", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".380" = shufflevector <16 x i32> %".363", <16 x i32> %".371", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".381" = shufflevector <16 x i32> %".358", <16 x i32> %".366", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".382" = shufflevector <16 x i32> %".358", <16 x i32> %".366", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".383" = shufflevector <16 x i32> %".360", <16 x i32> %".368", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".384" = shufflevector <16 x i32> %".360", <16 x i32> %".368", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".385" = shufflevector <16 x i32> %".362", <16 x i32> %".370", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".386" = shufflevector <16 x i32> %".362", <16 x i32> %".370", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".387" = shufflevector <16 x i32> %".364", <16 x i32> %".372", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".388" = shufflevector <16 x i32> %".364", <16 x i32> %".372", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".389" = shufflevector <16 x i32> %".373", <16 x i32> %".377", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".390" = shufflevector <16 x i32> %".373", <16 x i32> %".377", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".391" = shufflevector <16 x i32> %".375", <16 x i32> %".379", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".392" = shufflevector <16 x i32> %".375", <16 x i32> %".379", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".393" = shufflevector <16 x i32> %".374", <16 x i32> %".378", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".394" = shufflevector <16 x i32> %".374", <16 x i32> %".378", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".395" = shufflevector <16 x i32> %".376", <16 x i32> %".380", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".396" = shufflevector <16 x i32> %".376", <16 x i32> %".380", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".397" = shufflevector <16 x i32> %".381", <16 x i32> %".385", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".398" = shufflevector <16 x i32> %".381", <16 x i32> %".385", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".399" = shufflevector <16 x i32> %".383", <16 x i32> %".387", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".400" = shufflevector <16 x i32> %".383", <16 x i32> %".387", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".401" = shufflevector <16 x i32> %".382", <16 x i32> %".386", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".402" = shufflevector <16 x i32> %".382", <16 x i32> %".386", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".403" = shufflevector <16 x i32> %".384", <16 x i32> %".388", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".404" = shufflevector <16 x i32> %".384", <16 x i32> %".388", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".405" = shufflevector <16 x i32> %".389", <16 x i32> %".391", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".406" = shufflevector <16 x i32> %".389", <16 x i32> %".391", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".407" = shufflevector <16 x i32> %".390", <16 x i32> %".392", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".408" = shufflevector <16 x i32> %".390", <16 x i32> %".392", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".409" = shufflevector <16 x i32> %".393", <16 x i32> %".395", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".410" = shufflevector <16 x i32> %".393", <16 x i32> %".395", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".411" = shufflevector <16 x i32> %".394", <16 x i32> %".396", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".412" = shufflevector <16 x i32> %".394", <16 x i32> %".396", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".413" = shufflevector <16 x i32> %".397", <16 x i32> %".399", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".414" = shufflevector <16 x i32> %".397", <16 x i32> %".399", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".415" = shufflevector <16 x i32> %".398", <16 x i32> %".400", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".416" = shufflevector <16 x i32> %".398", <16 x i32> %".400", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".417" = shufflevector <16 x i32> %".401", <16 x i32> %".403", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".418" = shufflevector <16 x i32> %".401", <16 x i32> %".403", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".419" = shufflevector <16 x i32> %".402", <16 x i32> %".404", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".420" = shufflevector <16 x i32> %".402", <16 x i32> %".404", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".421" = getelementptr inbounds i32, ptr %".281", i64 0
  store <16 x i32> %".405", ptr %".421", align 4
  %".423" = getelementptr inbounds i32, ptr %".281", i64 4
  store <16 x i32> %".406", ptr %".423", align 4
  %".425" = getelementptr inbounds i32, ptr %".281", i64 8
  store <16 x i32> %".407", ptr %".425", align 4
  %".427" = add i64 %"i.9", 4
  br label %"loop.9"
done.9:
  br label %"loop.10"
loop.10:
  %"i.10" = phi  i64 [0, %"done.9"], [%".584", %"done.12"]
  %".430" = icmp slt i64 %"i.10", 16
  br i1 %".430", label %"body.10", label %"done.10"
body.10:
  br label %"loop.11"
done.10:
  br i1 %".207", label %"then.3", label %"end.3"
loop.11:
  %"i.11" = phi  i64 [0, %"body.10"], [%".479", %"body.11"]
  %".433" = icmp slt i64 %"i.11", 3
  br i1 %".433", label %"body.11", label %"done.11"
body.11:
  %".435" = mul i64 %"i.11", 2
  %".436" = mul i64 %".435", 16
  %".437" = add i64 %".436", %"i.10"
  %".438" = getelementptr inbounds i16, ptr %".192", i64 %".437"
  %".439" = load <16 x i16>, ptr %".438", align 2
  %".440" = zext <16 x i16> %".439" to <16 x i32>
  %".441" = shl <16 x i32> %".440", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".442" = bitcast <16 x i32> %".441" to <16 x float>
  %".443" = bitcast <16 x float> %".442" to <16 x i32>
  %".444" = lshr <16 x i32> %".443", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".445" = and <16 x i32> %".444", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".446" = add <16 x i32> %".445", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".447" = add <16 x i32> %".443", %".446"
  %".448" = fcmp uno <16 x float> %".442", %".442"
  %".449" = or <16 x i32> %".443", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".450" = select  <16 x i1> %".448", <16 x i32> %".449", <16 x i32> %".447"
  %".451" = lshr <16 x i32> %".450", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".452" = trunc <16 x i32> %".451" to <16 x i16>
  %".453" = mul i64 %"i.11", 2
  %".454" = add i64 %".453", 1
  %".455" = mul i64 %".454", 16
  %".456" = add i64 %".455", %"i.10"
  %".457" = getelementptr inbounds i16, ptr %".192", i64 %".456"
  %".458" = load <16 x i16>, ptr %".457", align 2
  %".459" = zext <16 x i16> %".458" to <16 x i32>
  %".460" = shl <16 x i32> %".459", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".461" = bitcast <16 x i32> %".460" to <16 x float>
  %".462" = bitcast <16 x float> %".461" to <16 x i32>
  %".463" = lshr <16 x i32> %".462", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".464" = and <16 x i32> %".463", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".465" = add <16 x i32> %".464", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".466" = add <16 x i32> %".462", %".465"
  %".467" = fcmp uno <16 x float> %".461", %".461"
  %".468" = or <16 x i32> %".462", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".469" = select  <16 x i1> %".467", <16 x i32> %".468", <16 x i32> %".466"
  %".470" = lshr <16 x i32> %".469", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".471" = trunc <16 x i32> %".470" to <16 x i16>
  %".472" = zext <16 x i16> %".452" to <16 x i32>
  %".473" = zext <16 x i16> %".471" to <16 x i32>
  %".474" = shl <16 x i32> %".473", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".475" = or <16 x i32> %".472", %".474"
  %".476" = mul i64 %"i.11", 32
  %".477" = getelementptr inbounds i32, ptr %".276", i64 %".476"
  store <16 x i32> %".475", ptr %".477", align 4
  %".479" = add i64 %"i.11", 1
  br label %"loop.11"
done.11:
  br label %"loop.12"
loop.12:
  %"i.12" = phi  i64 [0, %"done.11"], [%".582", %"done.13"]
  %".482" = icmp slt i64 %"i.12", 4
  br i1 %".482", label %"body.12", label %"done.12"
body.12:
  br label %"k"
done.12:
  %".584" = add i64 %"i.10", 16
  br label %"loop.10"
k:
  %".485" = phi  i64 [0, %"body.12"], [%".538", %"k.body"]
  %".486" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.12"], [%".504", %"k.body"]
  %".487" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.12"], [%".515", %"k.body"]
  %".488" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.12"], [%".526", %"k.body"]
  %".489" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.12"], [%".537", %"k.body"]
  %".490" = icmp slt i64 %".485", 3
  br i1 %".490", label %"k.body", label %"k.done"
k.body:
  %".492" = mul i64 %".485", 32
  %".493" = getelementptr inbounds i32, ptr %".276", i64 %".492"
  %".494" = load <16 x i32>, ptr %".493", align 4
  %".495" = mul i64 %"i.12", 3
  %".496" = getelementptr inbounds i32, ptr %".275", i64 %".495"
  %".497" = mul i64 %".485", 4
  %".498" = getelementptr inbounds i32, ptr %".496", i64 %".497"
  %".499" = load i32, ptr %".498", align 4
  %".500" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".499", i32 0
  %".501" = shufflevector <16 x i32> %".500", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".502" = bitcast <16 x i32> %".501" to <32 x bfloat>
  %".503" = bitcast <16 x i32> %".494" to <32 x bfloat>
  %".504" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".486", <32 x bfloat> %".502", <32 x bfloat> %".503")
  %".505" = mul i64 %"i.12", 3
  %".506" = getelementptr inbounds i32, ptr %".275", i64 %".505"
  %".507" = mul i64 %".485", 4
  %".508" = add i64 %".507", 1
  %".509" = getelementptr inbounds i32, ptr %".506", i64 %".508"
  %".510" = load i32, ptr %".509", align 4
  %".511" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".510", i32 0
  %".512" = shufflevector <16 x i32> %".511", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".513" = bitcast <16 x i32> %".512" to <32 x bfloat>
  %".514" = bitcast <16 x i32> %".494" to <32 x bfloat>
  %".515" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".487", <32 x bfloat> %".513", <32 x bfloat> %".514")
  %".516" = mul i64 %"i.12", 3
  %".517" = getelementptr inbounds i32, ptr %".275", i64 %".516"
  %".518" = mul i64 %".485", 4
  %".519" = add i64 %".518", 2
  %".520" = getelementptr inbounds i32, ptr %".517", i64 %".519"
  %".521" = load i32, ptr %".520", align 4
  %".522" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".521", i32 0
  %".523" = shufflevector <16 x i32> %".522", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".524" = bitcast <16 x i32> %".523" to <32 x bfloat>
  %".525" = bitcast <16 x i32> %".494" to <32 x bfloat>
  %".526" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".488", <32 x bfloat> %".524", <32 x bfloat> %".525")
  %".527" = mul i64 %"i.12", 3
  %".528" = getelementptr inbounds i32, ptr %".275", i64 %".527"
  %".529" = mul i64 %".485", 4
  %".530" = add i64 %".529", 3
  %".531" = getelementptr inbounds i32, ptr %".528", i64 %".530"
  %".532" = load i32, ptr %".531", align 4
  %".533" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".532", i32 0
  %".534" = shufflevector <16 x i32> %".533", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".535" = bitcast <16 x i32> %".534" to <32 x bfloat>
  %".536" = bitcast <16 x i32> %".494" to <32 x bfloat>
  %".537" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".489", <32 x bfloat> %".535", <32 x bfloat> %".536")
  %".538" = add i64 %".485", 1
  br label %"k"
k.done:
  %".540" = getelementptr inbounds float, ptr %".274", i64 0
  store <16 x float> %".486", ptr %".540", align 4
  %".542" = getelementptr inbounds float, ptr %".274", i64 32
  store <16 x float> %".487", ptr %".542", align 4
  %".544" = getelementptr inbounds float, ptr %".274", i64 64
  store <16 x float> %".488", ptr %".544", align 4
  %".546" = getelementptr inbounds float, ptr %".274", i64 96
  store <16 x float> %".489", ptr %".546", align 4
  br label %"loop.13"
loop.13:
  %"i.13" = phi  i64 [0, %"k.done"], [%".580", %"body.13"]
  %".549" = icmp slt i64 %"i.13", 4
  br i1 %".549", label %"body.13", label %"done.13"
body.13:
  %".551" = add i64 %"i.13", %"i.12"
  %".552" = sub i64 %".551", %"i.12"
  %".553" = mul i64 %".552", 32
  %".554" = getelementptr inbounds float, ptr %".274", i64 %".553"
  %".555" = load <16 x float>, ptr %".554", align 4
  %".556" = bitcast <16 x float> %".555" to <16 x i32>
  %".557" = lshr <16 x i32> %".556", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".558" = and <16 x i32> %".557", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".559" = add <16 x i32> %".558", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".560" = add <16 x i32> %".556", %".559"
  %".561" = fcmp uno <16 x float> %".555", %".555"
  %".562" = or <16 x i32> %".556", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".563" = select  <16 x i1> %".561", <16 x i32> %".562", <16 x i32> %".560"
  %".564" = and <16 x i32> %".563", <i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760>
  %".565" = bitcast <16 x i32> %".564" to <16 x float>
  %".566" = mul i64 %".551", 16
  %".567" = add i64 %".566", %"i.10"
  %".568" = getelementptr inbounds i16, ptr %".273", i64 %".567"
  %".569" = bitcast <16 x float> %".565" to <16 x i32>
  %".570" = lshr <16 x i32> %".569", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".571" = and <16 x i32> %".570", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".572" = add <16 x i32> %".571", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".573" = add <16 x i32> %".569", %".572"
  %".574" = fcmp uno <16 x float> %".565", %".565"
  %".575" = or <16 x i32> %".569", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".576" = select  <16 x i1> %".574", <16 x i32> %".575", <16 x i32> %".573"
  %".577" = lshr <16 x i32> %".576", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".578" = trunc <16 x i32> %".577" to <16 x i16>
  store <16 x i16> %".578", ptr %".568", align 2
  %".580" = add i64 %"i.13", 1
  br label %"loop.13"
done.13:
  %".582" = add i64 %"i.12", 4
  br label %"loop.12"
then.3:
  %".587" = icmp slt i64 %".198", 0
  %".588" = sub i64 0, %".198"
  %".589" = select  i1 %".587", i64 %".588", i64 0
  %".590" = sub i64 4, %".198"
  %".591" = icmp slt i64 %".590", 4
  %".592" = select  i1 %".591", i64 %".590", i64 4
  %".593" = icmp slt i64 %".199", 0
  %".594" = sub i64 0, %".199"
  %".595" = select  i1 %".593", i64 %".594", i64 0
  %".596" = sub i64 16, %".199"
  %".597" = icmp slt i64 %".596", 16
  %".598" = select  i1 %".597", i64 %".596", i64 16
  br label %"loop.14"
end.3:
  ret void
loop.14:
  %"i.14" = phi  i64 [%".589", %"then.3"], [%".630", %"done.15"]
  %".600" = icmp slt i64 %"i.14", %".592"
  br i1 %".600", label %"body.14", label %"done.14"
body.14:
  br label %"loop.15"
done.14:
  br label %"end.3"
loop.15:
  %"i.15" = phi  i64 [%".595", %"body.14"], [%".628", %"body.15"]
  %".603" = icmp slt i64 %"i.15", %".598"
  br i1 %".603", label %"body.15", label %"done.15"
body.15:
  %".605" = add i64 %".198", %"i.14"
  %".606" = add i64 %".199", %"i.15"
  %".607" = mul i64 %"i.14", 16
  %".608" = add i64 %".607", %"i.15"
  %".609" = getelementptr inbounds i16, ptr %".206", i64 %".608"
  %".610" = load i16, ptr %".609", align 2
  %".611" = zext i16 %".610" to i32
  %".612" = shl i32 %".611", 16
  %".613" = bitcast i32 %".612" to float
  %".614" = mul i64 %".605", 16
  %".615" = add i64 %".614", %".606"
  %".616" = getelementptr inbounds i16, ptr %".24", i64 %".615"
  %".617" = bitcast float %".613" to i32
  %".618" = lshr i32 %".617", 16
  %".619" = and i32 %".618", 1
  %".620" = add i32 %".619", 32767
  %".621" = add i32 %".617", %".620"
  %".622" = fcmp uno float %".613", %".613"
  %".623" = or i32 %".617", 4194304
  %".624" = select  i1 %".622", i32 %".623", i32 %".621"
  %".625" = lshr i32 %".624", 16
  %".626" = trunc i32 %".625" to i16
  store i16 %".626", ptr %".616", align 2
  %".628" = add i64 %"i.15", 1
  br label %"loop.15"
done.15:
  %".630" = add i64 %"i.14", 1
  br label %"loop.14"
}
