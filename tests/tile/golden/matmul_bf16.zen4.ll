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
  %".35" = mul i64 %".34", 4
  %".36" = sext i32 %".33" to i64
  %".37" = mul i64 %".36", 6
  %".38" = mul i64 %".35", 6
  %".39" = add i64 %".38", %".37"
  %".40" = getelementptr i16, ptr %".20", i64 %".39"
  %".41" = trunc i64 %".17" to i32
  %".42" = trunc i64 %".15" to i32
  %".43" = trunc i64 %".13" to i32
  %".44" = sext i32 %".43" to i64
  %".45" = mul i64 %".44", 6
  %".46" = sext i32 %".42" to i64
  %".47" = mul i64 %".46", 16
  %".48" = mul i64 %".45", 16
  %".49" = add i64 %".48", %".47"
  %".50" = getelementptr i16, ptr %".22", i64 %".49"
  %".51" = trunc i64 %".17" to i32
  %".52" = trunc i64 %".15" to i32
  %".53" = trunc i64 %".13" to i32
  %".54" = sext i32 %".51" to i64
  %".55" = mul i64 %".54", 4
  %".56" = sext i32 %".52" to i64
  %".57" = mul i64 %".56", 16
  %".58" = mul i64 %".55", 16
  %".59" = add i64 %".58", %".57"
  %".60" = getelementptr i16, ptr %".24", i64 %".59"
  %".61" = getelementptr i8, ptr %".3", i64 0
  %".62" = getelementptr i8, ptr %".3", i64 1024
  %".63" = getelementptr i8, ptr %".3", i64 1152
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".226", %"body"]
  %".65" = icmp slt i64 %"i", 4
  br i1 %".65", label %"body", label %"done"
body:
  %".67" = mul i64 %"i", 3
  %".68" = getelementptr inbounds i32, ptr %".62", i64 %".67"
  %".69" = mul i64 %"i", 6
  %".70" = getelementptr inbounds i16, ptr %".40", i64 %".69"
  %".71" = load <6 x i16>, ptr %".70", align 2
  %".72" = zext <6 x i16> %".71" to <6 x i32>
  %".73" = shl <6 x i32> %".72", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".74" = bitcast <6 x i32> %".73" to <6 x float>
  %".75" = bitcast <6 x float> %".74" to <6 x i32>
  %".76" = lshr <6 x i32> %".75", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".77" = and <6 x i32> %".76", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".78" = add <6 x i32> %".77", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".79" = add <6 x i32> %".75", %".78"
  %".80" = fcmp uno <6 x float> %".74", %".74"
  %".81" = and <6 x i32> %".75", <i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535>
  %".82" = icmp eq <6 x i32> %".81", <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".83" = or <6 x i32> %".75", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".84" = select  <6 x i1> %".82", <6 x i32> %".75", <6 x i32> %".83"
  %".85" = select  <6 x i1> %".80", <6 x i32> %".84", <6 x i32> %".79"
  %".86" = lshr <6 x i32> %".85", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".87" = trunc <6 x i32> %".86" to <6 x i16>
  %".88" = shufflevector <6 x i16> %".87", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".89" = bitcast <32 x i16> %".88" to <16 x i32>
  %".90" = add i64 %"i", 1
  %".91" = mul i64 %".90", 6
  %".92" = getelementptr inbounds i16, ptr %".40", i64 %".91"
  %".93" = load <6 x i16>, ptr %".92", align 2
  %".94" = zext <6 x i16> %".93" to <6 x i32>
  %".95" = shl <6 x i32> %".94", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".96" = bitcast <6 x i32> %".95" to <6 x float>
  %".97" = bitcast <6 x float> %".96" to <6 x i32>
  %".98" = lshr <6 x i32> %".97", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".99" = and <6 x i32> %".98", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".100" = add <6 x i32> %".99", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".101" = add <6 x i32> %".97", %".100"
  %".102" = fcmp uno <6 x float> %".96", %".96"
  %".103" = and <6 x i32> %".97", <i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535>
  %".104" = icmp eq <6 x i32> %".103", <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".105" = or <6 x i32> %".97", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".106" = select  <6 x i1> %".104", <6 x i32> %".97", <6 x i32> %".105"
  %".107" = select  <6 x i1> %".102", <6 x i32> %".106", <6 x i32> %".101"
  %".108" = lshr <6 x i32> %".107", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".109" = trunc <6 x i32> %".108" to <6 x i16>
  %".110" = shufflevector <6 x i16> %".109", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".111" = bitcast <32 x i16> %".110" to <16 x i32>
  %".112" = add i64 %"i", 2
  %".113" = mul i64 %".112", 6
  %".114" = getelementptr inbounds i16, ptr %".40", i64 %".113"
  %".115" = load <6 x i16>, ptr %".114", align 2
  %".116" = zext <6 x i16> %".115" to <6 x i32>
  %".117" = shl <6 x i32> %".116", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".118" = bitcast <6 x i32> %".117" to <6 x float>
  %".119" = bitcast <6 x float> %".118" to <6 x i32>
  %".120" = lshr <6 x i32> %".119", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".121" = and <6 x i32> %".120", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".122" = add <6 x i32> %".121", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".123" = add <6 x i32> %".119", %".122"
  %".124" = fcmp uno <6 x float> %".118", %".118"
  %".125" = and <6 x i32> %".119", <i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535>
  %".126" = icmp eq <6 x i32> %".125", <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".127" = or <6 x i32> %".119", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".128" = select  <6 x i1> %".126", <6 x i32> %".119", <6 x i32> %".127"
  %".129" = select  <6 x i1> %".124", <6 x i32> %".128", <6 x i32> %".123"
  %".130" = lshr <6 x i32> %".129", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".131" = trunc <6 x i32> %".130" to <6 x i16>
  %".132" = shufflevector <6 x i16> %".131", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".133" = bitcast <32 x i16> %".132" to <16 x i32>
  %".134" = add i64 %"i", 3
  %".135" = mul i64 %".134", 6
  %".136" = getelementptr inbounds i16, ptr %".40", i64 %".135"
  %".137" = load <6 x i16>, ptr %".136", align 2
  %".138" = zext <6 x i16> %".137" to <6 x i32>
  %".139" = shl <6 x i32> %".138", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".140" = bitcast <6 x i32> %".139" to <6 x float>
  %".141" = bitcast <6 x float> %".140" to <6 x i32>
  %".142" = lshr <6 x i32> %".141", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".143" = and <6 x i32> %".142", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".144" = add <6 x i32> %".143", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".145" = add <6 x i32> %".141", %".144"
  %".146" = fcmp uno <6 x float> %".140", %".140"
  %".147" = and <6 x i32> %".141", <i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535>
  %".148" = icmp eq <6 x i32> %".147", <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".149" = or <6 x i32> %".141", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".150" = select  <6 x i1> %".148", <6 x i32> %".141", <6 x i32> %".149"
  %".151" = select  <6 x i1> %".146", <6 x i32> %".150", <6 x i32> %".145"
  %".152" = lshr <6 x i32> %".151", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".153" = trunc <6 x i32> %".152" to <6 x i16>
  %".154" = shufflevector <6 x i16> %".153", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".155" = bitcast <32 x i16> %".154" to <16 x i32>
  %".156" = shufflevector <16 x i32> %".89", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".157" = shufflevector <16 x i32> %".89", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".158" = shufflevector <16 x i32> %".111", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".159" = shufflevector <16 x i32> %".111", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".160" = shufflevector <16 x i32> %".133", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".161" = shufflevector <16 x i32> %".133", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".162" = shufflevector <16 x i32> %".155", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".163" = shufflevector <16 x i32> %".155", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".164" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".165" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".166" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".167" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".168" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".169" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".170" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".171" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".172" = shufflevector <16 x i32> %".156", <16 x i32> %".164", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".173" = shufflevector <16 x i32> %".156", <16 x i32> %".164", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".174" = shufflevector <16 x i32> %".158", <16 x i32> %".166", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".175" = shufflevector <16 x i32> %".158", <16 x i32> %".166", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".176" = shufflevector <16 x i32> %".160", <16 x i32> %".168", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".177" = shufflevector <16 x i32> %".160", <16 x i32> %".168", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".178" = shufflevector <16 x i32> %".162", <16 x i32> %".170", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".179" = shufflevector <16 x i32> %".162", <16 x i32> %".170", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".180" = shufflevector <16 x i32> %".157", <16 x i32> %".165", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".181" = shufflevector <16 x i32> %".157", <16 x i32> %".165", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".182" = shufflevector <16 x i32> %".159", <16 x i32> %".167", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".183" = shufflevector <16 x i32> %".159", <16 x i32> %".167", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".184" = shufflevector <16 x i32> %".161", <16 x i32> %".169", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".185" = shufflevector <16 x i32> %".161", <16 x i32> %".169", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".186" = shufflevector <16 x i32> %".163", <16 x i32> %".171", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".187" = shufflevector <16 x i32> %".163", <16 x i32> %".171", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".188" = shufflevector <16 x i32> %".172", <16 x i32> %".176", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".189" = shufflevector <16 x i32> %".172", <16 x i32> %".176", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".190" = shufflevector <16 x i32> %".174", <16 x i32> %".178", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".191" = shufflevector <16 x i32> %".174", <16 x i32> %".178", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".192" = shufflevector <16 x i32> %".173", <16 x i32> %".177", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".193" = shufflevector <16 x i32> %".173", <16 x i32> %".177", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".194" = shufflevector <16 x i32> %".175", <16 x i32> %".179", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".195" = shufflevector <16 x i32> %".175", <16 x i32> %".179", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".196" = shufflevector <16 x i32> %".180", <16 x i32> %".184", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".197" = shufflevector <16 x i32> %".180", <16 x i32> %".184", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".198" = shufflevector <16 x i32> %".182", <16 x i32> %".186", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".199" = shufflevector <16 x i32> %".182", <16 x i32> %".186", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".200" = shufflevector <16 x i32> %".181", <16 x i32> %".185", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".201" = shufflevector <16 x i32> %".181", <16 x i32> %".185", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".202" = shufflevector <16 x i32> %".183", <16 x i32> %".187", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".203" = shufflevector <16 x i32> %".183", <16 x i32> %".187", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".204" = shufflevector <16 x i32> %".188", <16 x i32> %".190", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".205" = shufflevector <16 x i32> %".188", <16 x i32> %".190", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".206" = shufflevector <16 x i32> %".189", <16 x i32> %".191", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".207" = shufflevector <16 x i32> %".189", <16 x i32> %".191", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".208" = shufflevector <16 x i32> %".192", <16 x i32> %".194", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".209" = shufflevector <16 x i32> %".192", <16 x i32> %".194", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".210" = shufflevector <16 x i32> %".193", <16 x i32> %".195", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".211" = shufflevector <16 x i32> %".193", <16 x i32> %".195", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".212" = shufflevector <16 x i32> %".196", <16 x i32> %".198", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".213" = shufflevector <16 x i32> %".196", <16 x i32> %".198", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".214" = shufflevector <16 x i32> %".197", <16 x i32> %".199", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".215" = shufflevector <16 x i32> %".197", <16 x i32> %".199", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".216" = shufflevector <16 x i32> %".200", <16 x i32> %".202", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".217" = shufflevector <16 x i32> %".200", <16 x i32> %".202", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".218" = shufflevector <16 x i32> %".201", <16 x i32> %".203", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".219" = shufflevector <16 x i32> %".201", <16 x i32> %".203", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".220" = getelementptr inbounds i32, ptr %".68", i64 0
  store <16 x i32> %".204", ptr %".220", align 4
  %".222" = getelementptr inbounds i32, ptr %".68", i64 4
  store <16 x i32> %".205", ptr %".222", align 4
  %".224" = getelementptr inbounds i32, ptr %".68", i64 8
  store <16 x i32> %".206", ptr %".224", align 4
  %".226" = add i64 %"i", 4
  br label %"loop"
done:
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [0, %"done"], [%".395", %"done.3"]
  %".229" = icmp slt i64 %"i.1", 16
  br i1 %".229", label %"body.1", label %"done.1"
body.1:
  br label %"loop.2"
done.1:
  ret void
loop.2:
  %"i.2" = phi  i64 [0, %"body.1"], [%".284", %"body.2"]
  %".232" = icmp slt i64 %"i.2", 3
  br i1 %".232", label %"body.2", label %"done.2"
body.2:
  %".234" = mul i64 %"i.2", 2
  %".235" = mul i64 %".234", 16
  %".236" = add i64 %".235", %"i.1"
  %".237" = getelementptr inbounds i16, ptr %".50", i64 %".236"
  %".238" = load <16 x i16>, ptr %".237", align 2
  %".239" = zext <16 x i16> %".238" to <16 x i32>
  %".240" = shl <16 x i32> %".239", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".241" = bitcast <16 x i32> %".240" to <16 x float>
  %".242" = bitcast <16 x float> %".241" to <16 x i32>
  %".243" = lshr <16 x i32> %".242", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".244" = and <16 x i32> %".243", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".245" = add <16 x i32> %".244", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".246" = add <16 x i32> %".242", %".245"
  %".247" = fcmp uno <16 x float> %".241", %".241"
  %".248" = and <16 x i32> %".242", <i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535>
  %".249" = icmp eq <16 x i32> %".248", <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".250" = or <16 x i32> %".242", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".251" = select  <16 x i1> %".249", <16 x i32> %".242", <16 x i32> %".250"
  %".252" = select  <16 x i1> %".247", <16 x i32> %".251", <16 x i32> %".246"
  %".253" = lshr <16 x i32> %".252", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".254" = trunc <16 x i32> %".253" to <16 x i16>
  %".255" = mul i64 %"i.2", 2
  %".256" = add i64 %".255", 1
  %".257" = mul i64 %".256", 16
  %".258" = add i64 %".257", %"i.1"
  %".259" = getelementptr inbounds i16, ptr %".50", i64 %".258"
  %".260" = load <16 x i16>, ptr %".259", align 2
  %".261" = zext <16 x i16> %".260" to <16 x i32>
  %".262" = shl <16 x i32> %".261", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".263" = bitcast <16 x i32> %".262" to <16 x float>
  %".264" = bitcast <16 x float> %".263" to <16 x i32>
  %".265" = lshr <16 x i32> %".264", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".266" = and <16 x i32> %".265", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".267" = add <16 x i32> %".266", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".268" = add <16 x i32> %".264", %".267"
  %".269" = fcmp uno <16 x float> %".263", %".263"
  %".270" = and <16 x i32> %".264", <i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535>
  %".271" = icmp eq <16 x i32> %".270", <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".272" = or <16 x i32> %".264", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".273" = select  <16 x i1> %".271", <16 x i32> %".264", <16 x i32> %".272"
  %".274" = select  <16 x i1> %".269", <16 x i32> %".273", <16 x i32> %".268"
  %".275" = lshr <16 x i32> %".274", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".276" = trunc <16 x i32> %".275" to <16 x i16>
  %".277" = zext <16 x i16> %".254" to <16 x i32>
  %".278" = zext <16 x i16> %".276" to <16 x i32>
  %".279" = shl <16 x i32> %".278", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".280" = or <16 x i32> %".277", %".279"
  %".281" = mul i64 %"i.2", 64
  %".282" = getelementptr inbounds i32, ptr %".63", i64 %".281"
  store <16 x i32> %".280", ptr %".282", align 4
  %".284" = add i64 %"i.2", 1
  br label %"loop.2"
done.2:
  br label %"loop.3"
loop.3:
  %"i.3" = phi  i64 [0, %"done.2"], [%".393", %"done.4"]
  %".287" = icmp slt i64 %"i.3", 4
  br i1 %".287", label %"body.3", label %"done.3"
body.3:
  br label %"k"
done.3:
  %".395" = add i64 %"i.1", 16
  br label %"loop.1"
k:
  %".290" = phi  i64 [0, %"body.3"], [%".343", %"k.body"]
  %".291" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.3"], [%".309", %"k.body"]
  %".292" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.3"], [%".320", %"k.body"]
  %".293" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.3"], [%".331", %"k.body"]
  %".294" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.3"], [%".342", %"k.body"]
  %".295" = icmp slt i64 %".290", 3
  br i1 %".295", label %"k.body", label %"k.done"
k.body:
  %".297" = mul i64 %".290", 64
  %".298" = getelementptr inbounds i32, ptr %".63", i64 %".297"
  %".299" = load <16 x i32>, ptr %".298", align 4
  %".300" = mul i64 %"i.3", 3
  %".301" = getelementptr inbounds i32, ptr %".62", i64 %".300"
  %".302" = mul i64 %".290", 4
  %".303" = getelementptr inbounds i32, ptr %".301", i64 %".302"
  %".304" = load i32, ptr %".303", align 4
  %".305" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".304", i32 0
  %".306" = shufflevector <16 x i32> %".305", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".307" = bitcast <16 x i32> %".306" to <32 x bfloat>
  %".308" = bitcast <16 x i32> %".299" to <32 x bfloat>
  %".309" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".291", <32 x bfloat> %".307", <32 x bfloat> %".308")
  %".310" = mul i64 %"i.3", 3
  %".311" = getelementptr inbounds i32, ptr %".62", i64 %".310"
  %".312" = mul i64 %".290", 4
  %".313" = add i64 %".312", 1
  %".314" = getelementptr inbounds i32, ptr %".311", i64 %".313"
  %".315" = load i32, ptr %".314", align 4
  %".316" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".315", i32 0
  %".317" = shufflevector <16 x i32> %".316", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".318" = bitcast <16 x i32> %".317" to <32 x bfloat>
  %".319" = bitcast <16 x i32> %".299" to <32 x bfloat>
  %".320" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".292", <32 x bfloat> %".318", <32 x bfloat> %".319")
  %".321" = mul i64 %"i.3", 3
  %".322" = getelementptr inbounds i32, ptr %".62", i64 %".321"
  %".323" = mul i64 %".290", 4
  %".324" = add i64 %".323", 2
  %".325" = getelementptr inbounds i32, ptr %".322", i64 %".324"
  %".326" = load i32, ptr %".325", align 4
  %".327" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".326", i32 0
  %".328" = shufflevector <16 x i32> %".327", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".329" = bitcast <16 x i32> %".328" to <32 x bfloat>
  %".330" = bitcast <16 x i32> %".299" to <32 x bfloat>
  %".331" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".293", <32 x bfloat> %".329", <32 x bfloat> %".330")
  %".332" = mul i64 %"i.3", 3
  %".333" = getelementptr inbounds i32, ptr %".62", i64 %".332"
  %".334" = mul i64 %".290", 4
  %".335" = add i64 %".334", 3
  %".336" = getelementptr inbounds i32, ptr %".333", i64 %".335"
  %".337" = load i32, ptr %".336", align 4
  %".338" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".337", i32 0
  %".339" = shufflevector <16 x i32> %".338", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".340" = bitcast <16 x i32> %".339" to <32 x bfloat>
  %".341" = bitcast <16 x i32> %".299" to <32 x bfloat>
  %".342" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".294", <32 x bfloat> %".340", <32 x bfloat> %".341")
  %".343" = add i64 %".290", 1
  br label %"k"
k.done:
  %".345" = getelementptr inbounds float, ptr %".61", i64 0
  store <16 x float> %".291", ptr %".345", align 4
  %".347" = getelementptr inbounds float, ptr %".61", i64 64
  store <16 x float> %".292", ptr %".347", align 4
  %".349" = getelementptr inbounds float, ptr %".61", i64 128
  store <16 x float> %".293", ptr %".349", align 4
  %".351" = getelementptr inbounds float, ptr %".61", i64 192
  store <16 x float> %".294", ptr %".351", align 4
  br label %"loop.4"
loop.4:
  %"i.4" = phi  i64 [0, %"k.done"], [%".391", %"body.4"]
  %".354" = icmp slt i64 %"i.4", 4
  br i1 %".354", label %"body.4", label %"done.4"
body.4:
  %".356" = add i64 %"i.4", %"i.3"
  %".357" = sub i64 %".356", %"i.3"
  %".358" = mul i64 %".357", 64
  %".359" = getelementptr inbounds float, ptr %".61", i64 %".358"
  %".360" = load <16 x float>, ptr %".359", align 4
  %".361" = bitcast <16 x float> %".360" to <16 x i32>
  %".362" = lshr <16 x i32> %".361", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".363" = and <16 x i32> %".362", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".364" = add <16 x i32> %".363", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".365" = add <16 x i32> %".361", %".364"
  %".366" = fcmp uno <16 x float> %".360", %".360"
  %".367" = and <16 x i32> %".361", <i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535>
  %".368" = icmp eq <16 x i32> %".367", <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".369" = or <16 x i32> %".361", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".370" = select  <16 x i1> %".368", <16 x i32> %".361", <16 x i32> %".369"
  %".371" = select  <16 x i1> %".366", <16 x i32> %".370", <16 x i32> %".365"
  %".372" = and <16 x i32> %".371", <i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760>
  %".373" = bitcast <16 x i32> %".372" to <16 x float>
  %".374" = mul i64 %".356", 16
  %".375" = add i64 %".374", %"i.1"
  %".376" = getelementptr inbounds i16, ptr %".60", i64 %".375"
  %".377" = bitcast <16 x float> %".373" to <16 x i32>
  %".378" = lshr <16 x i32> %".377", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".379" = and <16 x i32> %".378", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".380" = add <16 x i32> %".379", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".381" = add <16 x i32> %".377", %".380"
  %".382" = fcmp uno <16 x float> %".373", %".373"
  %".383" = and <16 x i32> %".377", <i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535, i32 65535>
  %".384" = icmp eq <16 x i32> %".383", <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".385" = or <16 x i32> %".377", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".386" = select  <16 x i1> %".384", <16 x i32> %".377", <16 x i32> %".385"
  %".387" = select  <16 x i1> %".382", <16 x i32> %".386", <16 x i32> %".381"
  %".388" = lshr <16 x i32> %".387", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".389" = trunc <16 x i32> %".388" to <16 x i16>
  store <16 x i16> %".389", ptr %".376", align 2
  %".391" = add i64 %"i.4", 1
  br label %"loop.4"
done.4:
  %".393" = add i64 %"i.3", 4
  br label %"loop.3"
}
