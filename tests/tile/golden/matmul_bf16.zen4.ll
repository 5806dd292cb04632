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
  %".38" = mul i64 %".36", 6
  %".39" = add i64 %".38", %".37"
  %".40" = getelementptr i16, ptr %".20", i64 %".39"
  %".41" = trunc i64 %".17" to i32
  %".42" = trunc i64 %".15" to i32
  %".43" = trunc i64 %".13" to i32
  %".44" = sext i32 %".43" to i64
  %".45" = sext i32 %".42" to i64
  %".46" = mul i64 %".44", 6
  %".47" = mul i64 %".45", 16
  %".48" = mul i64 %".46", 16
  %".49" = add i64 %".48", %".47"
  %".50" = getelementptr i16, ptr %".22", i64 %".49"
  %".51" = trunc i64 %".17" to i32
  %".52" = trunc i64 %".15" to i32
  %".53" = trunc i64 %".13" to i32
  %".54" = sext i32 %".51" to i64
  %".55" = sext i32 %".52" to i64
  %".56" = mul i64 %".54", 4
  %".57" = mul i64 %".55", 16
  %".58" = mul i64 %".56", 16
  %".59" = add i64 %".58", %".57"
  %".60" = getelementptr i16, ptr %".24", i64 %".59"
  %".61" = getelementptr i8, ptr %".3", i64 0
  %".62" = getelementptr i8, ptr %".3", i64 1024
  %".63" = getelementptr i8, ptr %".3", i64 1152
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".214", %"body"]
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
  %".81" = or <6 x i32> %".75", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".82" = select  <6 x i1> %".80", <6 x i32> %".81", <6 x i32> %".79"
  %".83" = lshr <6 x i32> %".82", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".84" = trunc <6 x i32> %".83" to <6 x i16>
  %".85" = shufflevector <6 x i16> %".84", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".86" = bitcast <32 x i16> %".85" to <16 x i32>
  %".87" = add i64 %"i", 1
  %".88" = mul i64 %".87", 6
  %".89" = getelementptr inbounds i16, ptr %".40", i64 %".88"
  %".90" = load <6 x i16>, ptr %".89", align 2
  %".91" = zext <6 x i16> %".90" to <6 x i32>
  %".92" = shl <6 x i32> %".91", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".93" = bitcast <6 x i32> %".92" to <6 x float>
  %".94" = bitcast <6 x float> %".93" to <6 x i32>
  %".95" = lshr <6 x i32> %".94", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".96" = and <6 x i32> %".95", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".97" = add <6 x i32> %".96", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".98" = add <6 x i32> %".94", %".97"
  %".99" = fcmp uno <6 x float> %".93", %".93"
  %".100" = or <6 x i32> %".94", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".101" = select  <6 x i1> %".99", <6 x i32> %".100", <6 x i32> %".98"
  %".102" = lshr <6 x i32> %".101", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".103" = trunc <6 x i32> %".102" to <6 x i16>
  %".104" = shufflevector <6 x i16> %".103", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".105" = bitcast <32 x i16> %".104" to <16 x i32>
  %".106" = add i64 %"i", 2
  %".107" = mul i64 %".106", 6
  %".108" = getelementptr inbounds i16, ptr %".40", i64 %".107"
  %".109" = load <6 x i16>, ptr %".108", align 2
  %".110" = zext <6 x i16> %".109" to <6 x i32>
  %".111" = shl <6 x i32> %".110", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".112" = bitcast <6 x i32> %".111" to <6 x float>
  %".113" = bitcast <6 x float> %".112" to <6 x i32>
  %".114" = lshr <6 x i32> %".113", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".115" = and <6 x i32> %".114", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".116" = add <6 x i32> %".115", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".117" = add <6 x i32> %".113", %".116"
  %".118" = fcmp uno <6 x float> %".112", %".112"
  %".119" = or <6 x i32> %".113", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".120" = select  <6 x i1> %".118", <6 x i32> %".119", <6 x i32> %".117"
  %".121" = lshr <6 x i32> %".120", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".122" = trunc <6 x i32> %".121" to <6 x i16>
  %".123" = shufflevector <6 x i16> %".122", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".124" = bitcast <32 x i16> %".123" to <16 x i32>
  %".125" = add i64 %"i", 3
  %".126" = mul i64 %".125", 6
  %".127" = getelementptr inbounds i16, ptr %".40", i64 %".126"
  %".128" = load <6 x i16>, ptr %".127", align 2
  %".129" = zext <6 x i16> %".128" to <6 x i32>
  %".130" = shl <6 x i32> %".129", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".131" = bitcast <6 x i32> %".130" to <6 x float>
  %".132" = bitcast <6 x float> %".131" to <6 x i32>
  %".133" = lshr <6 x i32> %".132", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".134" = and <6 x i32> %".133", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".135" = add <6 x i32> %".134", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".136" = add <6 x i32> %".132", %".135"
  %".137" = fcmp uno <6 x float> %".131", %".131"
  %".138" = or <6 x i32> %".132", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".139" = select  <6 x i1> %".137", <6 x i32> %".138", <6 x i32> %".136"
  %".140" = lshr <6 x i32> %".139", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".141" = trunc <6 x i32> %".140" to <6 x i16>
  %".142" = shufflevector <6 x i16> %".141", <6 x i16> <i16 0, i16 0, i16 0, i16 0, i16 0, i16 0>, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".143" = bitcast <32 x i16> %".142" to <16 x i32>
  %".144" = shufflevector <16 x i32> %".86", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".145" = shufflevector <16 x i32> %".86", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".146" = shufflevector <16 x i32> %".105", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".147" = shufflevector <16 x i32> %".105", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".148" = shufflevector <16 x i32> %".124", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".149" = shufflevector <16 x i32> %".124", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".150" = shufflevector <16 x i32> %".143", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".151" = shufflevector <16 x i32> %".143", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".152" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".153" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".154" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".155" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".156" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".157" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".158" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".159" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".160" = shufflevector <16 x i32> %".144", <16 x i32> %".152", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".161" = shufflevector <16 x i32> %".144", <16 x i32> %".152", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".162" = shufflevector <16 x i32> %".146", <16 x i32> %".154", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".163" = shufflevector <16 x i32> %".146", <16 x i32> %".154", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".164" = shufflevector <16 x i32> %".148", <16 x i32> %".156", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".165" = shufflevector <16 x i32> %".148", <16 x i32> %".156", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".166" = shufflevector <16 x i32> %".150", <16 x i32> %".158", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".167" = shufflevector <16 x i32> %".150", <16 x i32> %".158", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".168" = shufflevector <16 x i32> %".145", <16 x i32> %".153", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".169" = shufflevector <16 x i32> %".145", <16 x i32> %".153", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".170" = shufflevector <16 x i32> %".147", <16 x i32> %".155", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".171" = shufflevector <16 x i32> %".147", <16 x i32> %".155", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".172" = shufflevector <16 x i32> %".149", <16 x i32> %".157", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".173" = shufflevector <16 x i32> %".149", <16 x i32> %".157", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".174" = shufflevector <16 x i32> %".151", <16 x i32> %".159", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".175" = shufflevector <16 x i32> %".151", <16 x i32> %".159", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".176" = shufflevector <16 x i32> %".160", <16 x i32> %".164", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".177" = shufflevector <16 x i32> %".160", <16 x i32> %".164", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".178" = shufflevector <16 x i32> %".162", <16 x i32> %".166", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".179" = shufflevector <16 x i32> %".162", <16 x i32> %".166", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".180" = shufflevector <16 x i32> %".161", <16 x i32> %".165", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".181" = shufflevector <16 x i32> %".161", <16 x i32> %".165", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".182" = shufflevector <16 x i32> %".163", <16 x i32> %".167", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".183" = shufflevector <16 x i32> %".163", <16 x i32> %".167", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".184" = shufflevector <16 x i32> %".168", <16 x i32> %".172", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".185" = shufflevector <16 x i32> %".168", <16 x i32> %".172", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".186" = shufflevector <16 x i32> %".170", <16 x i32> %".174", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".187" = shufflevector <16 x i32> %".170", <16 x i32> %".174", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".188" = shufflevector <16 x i32> %".169", <16 x i32> %".173", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".189" = shufflevector <16 x i32> %".169", <16 x i32> %".173", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".190" = shufflevector <16 x i32> %".171", <16 x i32> %".175", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".191" = shufflevector <16 x i32> %".171", <16 x i32> %".175", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".192" = shufflevector <16 x i32> %".176", <16 x i32> %".178", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".193" = shufflevector <16 x i32> %".176", <16 x i32> %".178", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".194" = shufflevector <16 x i32> %".177", <16 x i32> %".179", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".195" = shufflevector <16 x i32> %".177", <16 x i32> %".179", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".196" = shufflevector <16 x i32> %".180", <16 x i32> %".182", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".197" = shufflevector <16 x i32> %".180", <16 x i32> %".182", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".198" = shufflevector <16 x i32> %".181", <16 x i32> %".183", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".199" = shufflevector <16 x i32> %".181", <16 x i32> %".183", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".200" = shufflevector <16 x i32> %".184", <16 x i32> %".186", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".201" = shufflevector <16 x i32> %".184", <16 x i32> %".186", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".202" = shufflevector <16 x i32> %".185", <16 x i32> %".187", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".203" = shufflevector <16 x i32> %".185", <16 x i32> %".187", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".204" = shufflevector <16 x i32> %".188", <16 x i32> %".190", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".205" = shufflevector <16 x i32> %".188", <16 x i32> %".190", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".206" = shufflevector <16 x i32> %".189", <16 x i32> %".191", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".207" = shufflevector <16 x i32> %".189", <16 x i32> %".191", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".208" = getelementptr inbounds i32, ptr %".68", i64 0
  store <16 x i32> %".192", ptr %".208", align 4
  %".210" = getelementptr inbounds i32, ptr %".68", i64 4
  store <16 x i32> %".193", ptr %".210", align 4
  %".212" = getelementptr inbounds i32, ptr %".68", i64 8
  store <16 x i32> %".194", ptr %".212", align 4
  %".214" = add i64 %"i", 4
  br label %"loop"
done:
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [0, %"done"], [%".371", %"done.3"]
  %".217" = icmp slt i64 %"i.1", 16
  br i1 %".217", label %"body.1", label %"done.1"
body.1:
  br label %"loop.2"
done.1:
  ret void
loop.2:
  %"i.2" = phi  i64 [0, %"body.1"], [%".266", %"body.2"]
  %".220" = icmp slt i64 %"i.2", 3
  br i1 %".220", label %"body.2", label %"done.2"
body.2:
  %".222" = mul i64 %"i.2", 2
  %".223" = mul i64 %".222", 16
  %".224" = add i64 %".223", %"i.1"
  %".225" = getelementptr inbounds i16, ptr %".50", i64 %".224"
  %".226" = load <16 x i16>, ptr %".225", align 2
  %".227" = zext <16 x i16> %".226" to <16 x i32>
  %".228" = shl <16 x i32> %".227", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".229" = bitcast <16 x i32> %".228" to <16 x float>
  %".230" = bitcast <16 x float> %".229" to <16 x i32>
  %".231" = lshr <16 x i32> %".230", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".232" = and <16 x i32> %".231", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".233" = add <16 x i32> %".232", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".234" = add <16 x i32> %".230", %".233"
  %".235" = fcmp uno <16 x float> %".229", %".229"
  %".236" = or <16 x i32> %".230", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".237" = select  <16 x i1> %".235", <16 x i32> %".236", <16 x i32> %".234"
  %".238" = lshr <16 x i32> %".237", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".239" = trunc <16 x i32> %".238" to <16 x i16>
  %".240" = mul i64 %"i.2", 2
  %".241" = add i64 %".240", 1
  %".242" = mul i64 %".241", 16
  %".243" = add i64 %".242", %"i.1"
  %".244" = getelementptr inbounds i16, ptr %".50", i64 %".243"
  %".245" = load <16 x i16>, ptr %".244", align 2
  %".246" = zext <16 x i16> %".245" to <16 x i32>
  %".247" = shl <16 x i32> %".246", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".248" = bitcast <16 x i32> %".247" to <16 x float>
  %".249" = bitcast <16 x float> %".248" to <16 x i32>
  %".250" = lshr <16 x i32> %".249", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".251" = and <16 x i32> %".250", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".252" = add <16 x i32> %".251", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".253" = add <16 x i32> %".249", %".252"
  %".254" = fcmp uno <16 x float> %".248", %".248"
  %".255" = or <16 x i32> %".249", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".256" = select  <16 x i1> %".254", <16 x i32> %".255", <16 x i32> %".253"
  %".257" = lshr <16 x i32> %".256", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".258" = trunc <16 x i32> %".257" to <16 x i16>
  %".259" = zext <16 x i16> %".239" to <16 x i32>
  %".260" = zext <16 x i16> %".258" to <16 x i32>
  %".261" = shl <16 x i32> %".260", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".262" = or <16 x i32> %".259", %".261"
  %".263" = mul i64 %"i.2", 64
  %".264" = getelementptr inbounds i32, ptr %".63", i64 %".263"
  store <16 x i32> %".262", ptr %".264", align 4
  %".266" = add i64 %"i.2", 1
  br label %"loop.2"
done.2:
  br label %"loop.3"
loop.3:
  %"i.3" = phi  i64 [0, %"done.2"], [%".369", %"done.4"]
  %".269" = icmp slt i64 %"i.3", 4
  br i1 %".269", label %"body.3", label %"done.3"
body.3:
  br label %"k"
done.3:
  %".371" = add i64 %"i.1", 16
  br label %"loop.1"
k:
  %".272" = phi  i64 [0, %"body.3"], [%".325", %"k.body"]
  %".273" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.3"], [%".291", %"k.body"]
  %".274" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.3"], [%".302", %"k.body"]
  %".275" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.3"], [%".313", %"k.body"]
  %".276" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.3"], [%".324", %"k.body"]
  %".277" = icmp slt i64 %".272", 3
  br i1 %".277", label %"k.body", label %"k.done"
k.body:
  %".279" = mul i64 %".272", 64
  %".280" = getelementptr inbounds i32, ptr %".63", i64 %".279"
  %".281" = load <16 x i32>, ptr %".280", align 4
  %".282" = mul i64 %"i.3", 3
  %".283" = getelementptr inbounds i32, ptr %".62", i64 %".282"
  %".284" = mul i64 %".272", 4
  %".285" = getelementptr inbounds i32, ptr %".283", i64 %".284"
  %".286" = load i32, ptr %".285", align 4
  %".287" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".286", i32 0
  %".288" = shufflevector <16 x i32> %".287", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".289" = bitcast <16 x i32> %".288" to <32 x bfloat>
  %".290" = bitcast <16 x i32> %".281" to <32 x bfloat>
  %".291" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".273", <32 x bfloat> %".289", <32 x bfloat> %".290")
  %".292" = mul i64 %"i.3", 3
  %".293" = getelementptr inbounds i32, ptr %".62", i64 %".292"
  %".294" = mul i64 %".272", 4
  %".295" = add i64 %".294", 1
  %".296" = getelementptr inbounds i32, ptr %".293", i64 %".295"
  %".297" = load i32, ptr %".296", align 4
  %".298" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".297", i32 0
  %".299" = shufflevector <16 x i32> %".298", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".300" = bitcast <16 x i32> %".299" to <32 x bfloat>
  %".301" = bitcast <16 x i32> %".281" to <32 x bfloat>
  %".302" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".274", <32 x bfloat> %".300", <32 x bfloat> %".301")
  %".303" = mul i64 %"i.3", 3
  %".304" = getelementptr inbounds i32, ptr %".62", i64 %".303"
  %".305" = mul i64 %".272", 4
  %".306" = add i64 %".305", 2
  %".307" = getelementptr inbounds i32, ptr %".304", i64 %".306"
  %".308" = load i32, ptr %".307", align 4
  %".309" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".308", i32 0
  %".310" = shufflevector <16 x i32> %".309", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".311" = bitcast <16 x i32> %".310" to <32 x bfloat>
  %".312" = bitcast <16 x i32> %".281" to <32 x bfloat>
  %".313" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".275", <32 x bfloat> %".311", <32 x bfloat> %".312")
  %".314" = mul i64 %"i.3", 3
  %".315" = getelementptr inbounds i32, ptr %".62", i64 %".314"
  %".316" = mul i64 %".272", 4
  %".317" = add i64 %".316", 3
  %".318" = getelementptr inbounds i32, ptr %".315", i64 %".317"
  %".319" = load i32, ptr %".318", align 4
  %".320" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".319", i32 0
  %".321" = shufflevector <16 x i32> %".320", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".322" = bitcast <16 x i32> %".321" to <32 x bfloat>
  %".323" = bitcast <16 x i32> %".281" to <32 x bfloat>
  %".324" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".276", <32 x bfloat> %".322", <32 x bfloat> %".323")
  %".325" = add i64 %".272", 1
  br label %"k"
k.done:
  %".327" = getelementptr inbounds float, ptr %".61", i64 0
  store <16 x float> %".273", ptr %".327", align 4
  %".329" = getelementptr inbounds float, ptr %".61", i64 64
  store <16 x float> %".274", ptr %".329", align 4
  %".331" = getelementptr inbounds float, ptr %".61", i64 128
  store <16 x float> %".275", ptr %".331", align 4
  %".333" = getelementptr inbounds float, ptr %".61", i64 192
  store <16 x float> %".276", ptr %".333", align 4
  br label %"loop.4"
loop.4:
  %"i.4" = phi  i64 [0, %"k.done"], [%".367", %"body.4"]
  %".336" = icmp slt i64 %"i.4", 4
  br i1 %".336", label %"body.4", label %"done.4"
body.4:
  %".338" = add i64 %"i.4", %"i.3"
  %".339" = sub i64 %".338", %"i.3"
  %".340" = mul i64 %".339", 64
  %".341" = getelementptr inbounds float, ptr %".61", i64 %".340"
  %".342" = load <16 x float>, ptr %".341", align 4
  %".343" = bitcast <16 x float> %".342" to <16 x i32>
  %".344" = lshr <16 x i32> %".343", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".345" = and <16 x i32> %".344", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".346" = add <16 x i32> %".345", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".347" = add <16 x i32> %".343", %".346"
  %".348" = fcmp uno <16 x float> %".342", %".342"
  %".349" = or <16 x i32> %".343", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".350" = select  <16 x i1> %".348", <16 x i32> %".349", <16 x i32> %".347"
  %".351" = and <16 x i32> %".350", <i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760, i32 4294901760>
  %".352" = bitcast <16 x i32> %".351" to <16 x float>
  %".353" = mul i64 %".338", 16
  %".354" = add i64 %".353", %"i.1"
  %".355" = getelementptr inbounds i16, ptr %".60", i64 %".354"
  %".356" = bitcast <16 x float> %".352" to <16 x i32>
  %".357" = lshr <16 x i32> %".356", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".358" = and <16 x i32> %".357", <i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1>
  %".359" = add <16 x i32> %".358", <i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767, i32 32767>
  %".360" = add <16 x i32> %".356", %".359"
  %".361" = fcmp uno <16 x float> %".352", %".352"
  %".362" = or <16 x i32> %".356", <i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304, i32 4194304>
  %".363" = select  <16 x i1> %".361", <16 x i32> %".362", <16 x i32> %".360"
  %".364" = lshr <16 x i32> %".363", <i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16, i32 16>
  %".365" = trunc <16 x i32> %".364" to <16 x i16>
  store <16 x i16> %".365", ptr %".355", align 2
  %".367" = add i64 %"i.4", 1
  br label %"loop.4"
done.4:
  %".369" = add i64 %"i.3", 4
  br label %"loop.3"
}
