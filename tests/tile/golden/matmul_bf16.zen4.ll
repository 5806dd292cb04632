; zen4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
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
  %".62" = getelementptr i8, ptr %".3", i64 128
  %".63" = getelementptr i8, ptr %".3", i64 1152
  %".64" = getelementptr inbounds i32, ptr %".61", i64 0
  %".65" = getelementptr inbounds i16, ptr %".40", i64 0
  %".66" = load <6 x i16>, ptr %".65", align 2
  %".67" = zext <6 x i16> %".66" to <6 x i32>
  %".68" = shl <6 x i32> %".67", splat (i32 16)
  %".69" = bitcast <6 x i32> %".68" to <6 x float>
  %".70" = bitcast <6 x float> %".69" to <6 x i32>
  %".71" = lshr <6 x i32> %".70", splat (i32 16)
  %".72" = and <6 x i32> %".71", splat (i32 1)
  %".73" = add <6 x i32> %".72", splat (i32 32767)
  %".74" = add <6 x i32> %".70", %".73"
  %".75" = fcmp uno <6 x float> %".69", %".69"
  %".76" = and <6 x i32> %".70", splat (i32 65535)
  %".77" = icmp eq <6 x i32> %".76", splat (i32 0)
  %".78" = or <6 x i32> %".70", splat (i32 4194304)
  %".79" = select  <6 x i1> %".77", <6 x i32> %".70", <6 x i32> %".78"
  %".80" = select  <6 x i1> %".75", <6 x i32> %".79", <6 x i32> %".74"
  %".81" = lshr <6 x i32> %".80", splat (i32 16)
  %".82" = trunc <6 x i32> %".81" to <6 x i16>
  %".83" = shufflevector <6 x i16> %".82", <6 x i16> splat (i16 0), <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".84" = bitcast <32 x i16> %".83" to <16 x i32>
  %".85" = getelementptr inbounds i16, ptr %".40", i64 6
  %".86" = load <6 x i16>, ptr %".85", align 2
  %".87" = zext <6 x i16> %".86" to <6 x i32>
  %".88" = shl <6 x i32> %".87", splat (i32 16)
  %".89" = bitcast <6 x i32> %".88" to <6 x float>
  %".90" = bitcast <6 x float> %".89" to <6 x i32>
  %".91" = lshr <6 x i32> %".90", splat (i32 16)
  %".92" = and <6 x i32> %".91", splat (i32 1)
  %".93" = add <6 x i32> %".92", splat (i32 32767)
  %".94" = add <6 x i32> %".90", %".93"
  %".95" = fcmp uno <6 x float> %".89", %".89"
  %".96" = and <6 x i32> %".90", splat (i32 65535)
  %".97" = icmp eq <6 x i32> %".96", splat (i32 0)
  %".98" = or <6 x i32> %".90", splat (i32 4194304)
  %".99" = select  <6 x i1> %".97", <6 x i32> %".90", <6 x i32> %".98"
  %".100" = select  <6 x i1> %".95", <6 x i32> %".99", <6 x i32> %".94"
  %".101" = lshr <6 x i32> %".100", splat (i32 16)
  %".102" = trunc <6 x i32> %".101" to <6 x i16>
  %".103" = shufflevector <6 x i16> %".102", <6 x i16> splat (i16 0), <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".104" = bitcast <32 x i16> %".103" to <16 x i32>
  %".105" = getelementptr inbounds i16, ptr %".40", i64 12
  %".106" = load <6 x i16>, ptr %".105", align 2
  %".107" = zext <6 x i16> %".106" to <6 x i32>
  %".108" = shl <6 x i32> %".107", splat (i32 16)
  %".109" = bitcast <6 x i32> %".108" to <6 x float>
  %".110" = bitcast <6 x float> %".109" to <6 x i32>
  %".111" = lshr <6 x i32> %".110", splat (i32 16)
  %".112" = and <6 x i32> %".111", splat (i32 1)
  %".113" = add <6 x i32> %".112", splat (i32 32767)
  %".114" = add <6 x i32> %".110", %".113"
  %".115" = fcmp uno <6 x float> %".109", %".109"
  %".116" = and <6 x i32> %".110", splat (i32 65535)
  %".117" = icmp eq <6 x i32> %".116", splat (i32 0)
  %".118" = or <6 x i32> %".110", splat (i32 4194304)
  %".119" = select  <6 x i1> %".117", <6 x i32> %".110", <6 x i32> %".118"
  %".120" = select  <6 x i1> %".115", <6 x i32> %".119", <6 x i32> %".114"
  %".121" = lshr <6 x i32> %".120", splat (i32 16)
  %".122" = trunc <6 x i32> %".121" to <6 x i16>
  %".123" = shufflevector <6 x i16> %".122", <6 x i16> splat (i16 0), <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".124" = bitcast <32 x i16> %".123" to <16 x i32>
  %".125" = getelementptr inbounds i16, ptr %".40", i64 18
  %".126" = load <6 x i16>, ptr %".125", align 2
  %".127" = zext <6 x i16> %".126" to <6 x i32>
  %".128" = shl <6 x i32> %".127", splat (i32 16)
  %".129" = bitcast <6 x i32> %".128" to <6 x float>
  %".130" = bitcast <6 x float> %".129" to <6 x i32>
  %".131" = lshr <6 x i32> %".130", splat (i32 16)
  %".132" = and <6 x i32> %".131", splat (i32 1)
  %".133" = add <6 x i32> %".132", splat (i32 32767)
  %".134" = add <6 x i32> %".130", %".133"
  %".135" = fcmp uno <6 x float> %".129", %".129"
  %".136" = and <6 x i32> %".130", splat (i32 65535)
  %".137" = icmp eq <6 x i32> %".136", splat (i32 0)
  %".138" = or <6 x i32> %".130", splat (i32 4194304)
  %".139" = select  <6 x i1> %".137", <6 x i32> %".130", <6 x i32> %".138"
  %".140" = select  <6 x i1> %".135", <6 x i32> %".139", <6 x i32> %".134"
  %".141" = lshr <6 x i32> %".140", splat (i32 16)
  %".142" = trunc <6 x i32> %".141" to <6 x i16>
  %".143" = shufflevector <6 x i16> %".142", <6 x i16> splat (i16 0), <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".144" = bitcast <32 x i16> %".143" to <16 x i32>
  %".145" = shufflevector <16 x i32> %".84", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".146" = shufflevector <16 x i32> %".84", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".147" = shufflevector <16 x i32> %".104", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".148" = shufflevector <16 x i32> %".104", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".149" = shufflevector <16 x i32> %".124", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".150" = shufflevector <16 x i32> %".124", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".151" = shufflevector <16 x i32> %".144", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".152" = shufflevector <16 x i32> %".144", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".153" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".154" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".155" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".156" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".157" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".158" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".159" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".160" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".161" = shufflevector <16 x i32> %".145", <16 x i32> %".153", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".162" = shufflevector <16 x i32> %".145", <16 x i32> %".153", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".163" = shufflevector <16 x i32> %".147", <16 x i32> %".155", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".164" = shufflevector <16 x i32> %".147", <16 x i32> %".155", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".165" = shufflevector <16 x i32> %".149", <16 x i32> %".157", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".166" = shufflevector <16 x i32> %".149", <16 x i32> %".157", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".167" = shufflevector <16 x i32> %".151", <16 x i32> %".159", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".168" = shufflevector <16 x i32> %".151", <16 x i32> %".159", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".169" = shufflevector <16 x i32> %".146", <16 x i32> %".154", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".170" = shufflevector <16 x i32> %".146", <16 x i32> %".154", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".171" = shufflevector <16 x i32> %".148", <16 x i32> %".156", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".172" = shufflevector <16 x i32> %".148", <16 x i32> %".156", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".173" = shufflevector <16 x i32> %".150", <16 x i32> %".158", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".174" = shufflevector <16 x i32> %".150", <16 x i32> %".158", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".175" = shufflevector <16 x i32> %".152", <16 x i32> %".160", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".176" = shufflevector <16 x i32> %".152", <16 x i32> %".160", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".177" = shufflevector <16 x i32> %".161", <16 x i32> %".165", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".178" = shufflevector <16 x i32> %".161", <16 x i32> %".165", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".179" = shufflevector <16 x i32> %".163", <16 x i32> %".167", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".180" = shufflevector <16 x i32> %".163", <16 x i32> %".167", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".181" = shufflevector <16 x i32> %".162", <16 x i32> %".166", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".182" = shufflevector <16 x i32> %".162", <16 x i32> %".166", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".183" = shufflevector <16 x i32> %".164", <16 x i32> %".168", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".184" = shufflevector <16 x i32> %".164", <16 x i32> %".168", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".185" = shufflevector <16 x i32> %".169", <16 x i32> %".173", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".186" = shufflevector <16 x i32> %".169", <16 x i32> %".173", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".187" = shufflevector <16 x i32> %".171", <16 x i32> %".175", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".188" = shufflevector <16 x i32> %".171", <16 x i32> %".175", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".189" = shufflevector <16 x i32> %".170", <16 x i32> %".174", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".190" = shufflevector <16 x i32> %".170", <16 x i32> %".174", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".191" = shufflevector <16 x i32> %".172", <16 x i32> %".176", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".192" = shufflevector <16 x i32> %".172", <16 x i32> %".176", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".193" = shufflevector <16 x i32> %".177", <16 x i32> %".179", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".194" = shufflevector <16 x i32> %".177", <16 x i32> %".179", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".195" = shufflevector <16 x i32> %".178", <16 x i32> %".180", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".196" = shufflevector <16 x i32> %".178", <16 x i32> %".180", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".197" = shufflevector <16 x i32> %".181", <16 x i32> %".183", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".198" = shufflevector <16 x i32> %".181", <16 x i32> %".183", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".199" = shufflevector <16 x i32> %".182", <16 x i32> %".184", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".200" = shufflevector <16 x i32> %".182", <16 x i32> %".184", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".201" = shufflevector <16 x i32> %".185", <16 x i32> %".187", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".202" = shufflevector <16 x i32> %".185", <16 x i32> %".187", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".203" = shufflevector <16 x i32> %".186", <16 x i32> %".188", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".204" = shufflevector <16 x i32> %".186", <16 x i32> %".188", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".205" = shufflevector <16 x i32> %".189", <16 x i32> %".191", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".206" = shufflevector <16 x i32> %".189", <16 x i32> %".191", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".207" = shufflevector <16 x i32> %".190", <16 x i32> %".192", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".208" = shufflevector <16 x i32> %".190", <16 x i32> %".192", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".209" = getelementptr inbounds i32, ptr %".64", i64 0
  store <16 x i32> %".193", ptr %".209", align 4
  %".211" = getelementptr inbounds i32, ptr %".64", i64 4
  store <16 x i32> %".194", ptr %".211", align 4
  %".213" = getelementptr inbounds i32, ptr %".64", i64 8
  store <16 x i32> %".195", ptr %".213", align 4
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".369", %"done.2"]
  %".216" = icmp slt i64 %"i", 16
  br i1 %".216", label %"body", label %"done"
body:
  br label %"loop.1"
done:
  ret void
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".269", %"body.1"]
  %".219" = icmp slt i64 %"i.1", 3
  br i1 %".219", label %"body.1", label %"done.1"
body.1:
  %".221" = mul i64 %"i.1", 2
  %".222" = mul i64 %".221", 16
  %".223" = add i64 %".222", %"i"
  %".224" = getelementptr inbounds i16, ptr %".50", i64 %".223"
  %".225" = load <16 x i16>, ptr %".224", align 2
  %".226" = zext <16 x i16> %".225" to <16 x i32>
  %".227" = shl <16 x i32> %".226", splat (i32 16)
  %".228" = bitcast <16 x i32> %".227" to <16 x float>
  %".229" = bitcast <16 x float> %".228" to <16 x i32>
  %".230" = lshr <16 x i32> %".229", splat (i32 16)
  %".231" = and <16 x i32> %".230", splat (i32 1)
  %".232" = add <16 x i32> %".231", splat (i32 32767)
  %".233" = add <16 x i32> %".229", %".232"
  %".234" = fcmp uno <16 x float> %".228", %".228"
  %".235" = and <16 x i32> %".229", splat (i32 65535)
  %".236" = icmp eq <16 x i32> %".235", splat (i32 0)
  %".237" = or <16 x i32> %".229", splat (i32 4194304)
  %".238" = select  <16 x i1> %".236", <16 x i32> %".229", <16 x i32> %".237"
  %".239" = select  <16 x i1> %".234", <16 x i32> %".238", <16 x i32> %".233"
  %".240" = lshr <16 x i32> %".239", splat (i32 16)
  %".241" = trunc <16 x i32> %".240" to <16 x i16>
  %".242" = mul i64 %"i.1", 2
  %".243" = add i64 %".242", 1
  %".244" = mul i64 %".243", 16
  %".245" = add i64 %".244", %"i"
  %".246" = getelementptr inbounds i16, ptr %".50", i64 %".245"
  %".247" = load <16 x i16>, ptr %".246", align 2
  %".248" = zext <16 x i16> %".247" to <16 x i32>
  %".249" = shl <16 x i32> %".248", splat (i32 16)
  %".250" = bitcast <16 x i32> %".249" to <16 x float>
  %".251" = bitcast <16 x float> %".250" to <16 x i32>
  %".252" = lshr <16 x i32> %".251", splat (i32 16)
  %".253" = and <16 x i32> %".252", splat (i32 1)
  %".254" = add <16 x i32> %".253", splat (i32 32767)
  %".255" = add <16 x i32> %".251", %".254"
  %".256" = fcmp uno <16 x float> %".250", %".250"
  %".257" = and <16 x i32> %".251", splat (i32 65535)
  %".258" = icmp eq <16 x i32> %".257", splat (i32 0)
  %".259" = or <16 x i32> %".251", splat (i32 4194304)
  %".260" = select  <16 x i1> %".258", <16 x i32> %".251", <16 x i32> %".259"
  %".261" = select  <16 x i1> %".256", <16 x i32> %".260", <16 x i32> %".255"
  %".262" = lshr <16 x i32> %".261", splat (i32 16)
  %".263" = trunc <16 x i32> %".262" to <16 x i16>
  %".264" = shufflevector <16 x i16> %".241", <16 x i16> %".263", <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %".265" = bitcast <32 x i16> %".264" to <16 x i32>
  %".266" = mul i64 %"i.1", 64
  %".267" = getelementptr inbounds i32, ptr %".63", i64 %".266"
  store <16 x i32> %".265", ptr %".267", align 4
  %".269" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  br label %"k"
k:
  %".272" = phi  i64 [0, %"done.1"], [%".321", %"k.body"]
  %".273" = phi  <16 x float> [splat (float              0x0), %"done.1"], [%".290", %"k.body"]
  %".274" = phi  <16 x float> [splat (float              0x0), %"done.1"], [%".300", %"k.body"]
  %".275" = phi  <16 x float> [splat (float              0x0), %"done.1"], [%".310", %"k.body"]
  %".276" = phi  <16 x float> [splat (float              0x0), %"done.1"], [%".320", %"k.body"]
  %".277" = icmp slt i64 %".272", 3
  br i1 %".277", label %"k.body", label %"k.done"
k.body:
  %".279" = mul i64 %".272", 64
  %".280" = getelementptr inbounds i32, ptr %".63", i64 %".279"
  %".281" = load <16 x i32>, ptr %".280", align 4
  %".282" = getelementptr inbounds i32, ptr %".61", i64 0
  %".283" = mul i64 %".272", 4
  %".284" = getelementptr inbounds i32, ptr %".282", i64 %".283"
  %".285" = load i32, ptr %".284", align 4
  %".286" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".285", i32 0
  %".287" = shufflevector <16 x i32> %".286", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> splat (i32 0)
  %".288" = bitcast <16 x i32> %".287" to <32 x bfloat>
  %".289" = bitcast <16 x i32> %".281" to <32 x bfloat>
  %".290" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".273", <32 x bfloat> %".288", <32 x bfloat> %".289")
  %".291" = getelementptr inbounds i32, ptr %".61", i64 0
  %".292" = mul i64 %".272", 4
  %".293" = add i64 %".292", 1
  %".294" = getelementptr inbounds i32, ptr %".291", i64 %".293"
  %".295" = load i32, ptr %".294", align 4
  %".296" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".295", i32 0
  %".297" = shufflevector <16 x i32> %".296", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> splat (i32 0)
  %".298" = bitcast <16 x i32> %".297" to <32 x bfloat>
  %".299" = bitcast <16 x i32> %".281" to <32 x bfloat>
  %".300" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".274", <32 x bfloat> %".298", <32 x bfloat> %".299")
  %".301" = getelementptr inbounds i32, ptr %".61", i64 0
  %".302" = mul i64 %".272", 4
  %".303" = add i64 %".302", 2
  %".304" = getelementptr inbounds i32, ptr %".301", i64 %".303"
  %".305" = load i32, ptr %".304", align 4
  %".306" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".305", i32 0
  %".307" = shufflevector <16 x i32> %".306", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> splat (i32 0)
  %".308" = bitcast <16 x i32> %".307" to <32 x bfloat>
  %".309" = bitcast <16 x i32> %".281" to <32 x bfloat>
  %".310" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".275", <32 x bfloat> %".308", <32 x bfloat> %".309")
  %".311" = getelementptr inbounds i32, ptr %".61", i64 0
  %".312" = mul i64 %".272", 4
  %".313" = add i64 %".312", 3
  %".314" = getelementptr inbounds i32, ptr %".311", i64 %".313"
  %".315" = load i32, ptr %".314", align 4
  %".316" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".315", i32 0
  %".317" = shufflevector <16 x i32> %".316", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> splat (i32 0)
  %".318" = bitcast <16 x i32> %".317" to <32 x bfloat>
  %".319" = bitcast <16 x i32> %".281" to <32 x bfloat>
  %".320" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".276", <32 x bfloat> %".318", <32 x bfloat> %".319")
  %".321" = add i64 %".272", 1
  br label %"k"
k.done:
  %".323" = getelementptr inbounds float, ptr %".62", i64 0
  store <16 x float> %".273", ptr %".323", align 4
  %".325" = getelementptr inbounds float, ptr %".62", i64 64
  store <16 x float> %".274", ptr %".325", align 4
  %".327" = getelementptr inbounds float, ptr %".62", i64 128
  store <16 x float> %".275", ptr %".327", align 4
  %".329" = getelementptr inbounds float, ptr %".62", i64 192
  store <16 x float> %".276", ptr %".329", align 4
  br label %"loop.2"
loop.2:
  %"i.2" = phi  i64 [0, %"k.done"], [%".367", %"body.2"]
  %".332" = icmp slt i64 %"i.2", 4
  br i1 %".332", label %"body.2", label %"done.2"
body.2:
  %".334" = mul i64 %"i.2", 64
  %".335" = getelementptr inbounds float, ptr %".62", i64 %".334"
  %".336" = load <16 x float>, ptr %".335", align 4
  %".337" = bitcast <16 x float> %".336" to <16 x i32>
  %".338" = lshr <16 x i32> %".337", splat (i32 16)
  %".339" = and <16 x i32> %".338", splat (i32 1)
  %".340" = add <16 x i32> %".339", splat (i32 32767)
  %".341" = add <16 x i32> %".337", %".340"
  %".342" = fcmp uno <16 x float> %".336", %".336"
  %".343" = and <16 x i32> %".337", splat (i32 65535)
  %".344" = icmp eq <16 x i32> %".343", splat (i32 0)
  %".345" = or <16 x i32> %".337", splat (i32 4194304)
  %".346" = select  <16 x i1> %".344", <16 x i32> %".337", <16 x i32> %".345"
  %".347" = select  <16 x i1> %".342", <16 x i32> %".346", <16 x i32> %".341"
  %".348" = and <16 x i32> %".347", splat (i32 4294901760)
  %".349" = bitcast <16 x i32> %".348" to <16 x float>
  %".350" = mul i64 %"i.2", 16
  %".351" = add i64 %".350", %"i"
  %".352" = getelementptr inbounds i16, ptr %".60", i64 %".351"
  %".353" = bitcast <16 x float> %".349" to <16 x i32>
  %".354" = lshr <16 x i32> %".353", splat (i32 16)
  %".355" = and <16 x i32> %".354", splat (i32 1)
  %".356" = add <16 x i32> %".355", splat (i32 32767)
  %".357" = add <16 x i32> %".353", %".356"
  %".358" = fcmp uno <16 x float> %".349", %".349"
  %".359" = and <16 x i32> %".353", splat (i32 65535)
  %".360" = icmp eq <16 x i32> %".359", splat (i32 0)
  %".361" = or <16 x i32> %".353", splat (i32 4194304)
  %".362" = select  <16 x i1> %".360", <16 x i32> %".353", <16 x i32> %".361"
  %".363" = select  <16 x i1> %".358", <16 x i32> %".362", <16 x i32> %".357"
  %".364" = lshr <16 x i32> %".363", splat (i32 16)
  %".365" = trunc <16 x i32> %".364" to <16 x i16>
  store <16 x i16> %".365", ptr %".352", align 2
  %".367" = add i64 %"i.2", 1
  br label %"loop.2"
done.2:
  %".369" = add i64 %"i", 16
  br label %"loop"
}
