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
  %".17" = getelementptr ptr, ptr %".1", i64 0
  %".18" = load ptr, ptr %".17"
  %".19" = getelementptr ptr, ptr %".1", i64 1
  %".20" = load ptr, ptr %".19"
  %".21" = getelementptr ptr, ptr %".1", i64 2
  %".22" = load ptr, ptr %".21"
  %".23" = trunc i64 %".16" to i32
  %".24" = trunc i64 %".15" to i32
  %".25" = trunc i64 %".13" to i32
  %".26" = trunc i64 %".8" to i32
  %".27" = trunc i64 %".10" to i32
  %".28" = trunc i64 %".12" to i32
  %".29" = trunc i64 %".16" to i32
  %".30" = trunc i64 %".15" to i32
  %".31" = trunc i64 %".13" to i32
  %".32" = sext i32 %".29" to i64
  %".33" = mul i64 %".32", 4
  %".34" = sext i32 %".31" to i64
  %".35" = mul i64 %".34", 6
  %".36" = mul i64 %".33", 6
  %".37" = add i64 %".36", %".35"
  %".38" = getelementptr i16, ptr %".18", i64 %".37"
  %".39" = trunc i64 %".16" to i32
  %".40" = trunc i64 %".15" to i32
  %".41" = trunc i64 %".13" to i32
  %".42" = sext i32 %".41" to i64
  %".43" = mul i64 %".42", 6
  %".44" = sext i32 %".40" to i64
  %".45" = mul i64 %".44", 16
  %".46" = mul i64 %".43", 16
  %".47" = add i64 %".46", %".45"
  %".48" = getelementptr i16, ptr %".20", i64 %".47"
  %".49" = trunc i64 %".16" to i32
  %".50" = trunc i64 %".15" to i32
  %".51" = trunc i64 %".13" to i32
  %".52" = sext i32 %".49" to i64
  %".53" = mul i64 %".52", 4
  %".54" = sext i32 %".50" to i64
  %".55" = mul i64 %".54", 16
  %".56" = mul i64 %".53", 16
  %".57" = add i64 %".56", %".55"
  %".58" = getelementptr i16, ptr %".22", i64 %".57"
  %".59" = getelementptr i8, ptr %".3", i64 0
  %".60" = getelementptr i8, ptr %".3", i64 128
  %".61" = getelementptr i8, ptr %".3", i64 1152
  %".62" = getelementptr inbounds i32, ptr %".59", i64 0
  %".63" = getelementptr inbounds i16, ptr %".38", i64 0
  %".64" = load <6 x i16>, ptr %".63", align 2
  %".65" = zext <6 x i16> %".64" to <6 x i32>
  %".66" = shl <6 x i32> %".65", splat (i32 16)
  %".67" = bitcast <6 x i32> %".66" to <6 x float>
  %".68" = bitcast <6 x float> %".67" to <6 x i32>
  %".69" = lshr <6 x i32> %".68", splat (i32 16)
  %".70" = and <6 x i32> %".69", splat (i32 1)
  %".71" = add <6 x i32> %".70", splat (i32 32767)
  %".72" = add <6 x i32> %".68", %".71"
  %".73" = fcmp uno <6 x float> %".67", %".67"
  %".74" = and <6 x i32> %".68", splat (i32 65535)
  %".75" = icmp eq <6 x i32> %".74", splat (i32 0)
  %".76" = or <6 x i32> %".68", splat (i32 4194304)
  %".77" = select  <6 x i1> %".75", <6 x i32> %".68", <6 x i32> %".76"
  %".78" = select  <6 x i1> %".73", <6 x i32> %".77", <6 x i32> %".72"
  %".79" = lshr <6 x i32> %".78", splat (i32 16)
  %".80" = trunc <6 x i32> %".79" to <6 x i16>
  %".81" = shufflevector <6 x i16> %".80", <6 x i16> splat (i16 0), <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".82" = bitcast <32 x i16> %".81" to <16 x i32>
  %".83" = getelementptr inbounds i16, ptr %".38", i64 6
  %".84" = load <6 x i16>, ptr %".83", align 2
  %".85" = zext <6 x i16> %".84" to <6 x i32>
  %".86" = shl <6 x i32> %".85", splat (i32 16)
  %".87" = bitcast <6 x i32> %".86" to <6 x float>
  %".88" = bitcast <6 x float> %".87" to <6 x i32>
  %".89" = lshr <6 x i32> %".88", splat (i32 16)
  %".90" = and <6 x i32> %".89", splat (i32 1)
  %".91" = add <6 x i32> %".90", splat (i32 32767)
  %".92" = add <6 x i32> %".88", %".91"
  %".93" = fcmp uno <6 x float> %".87", %".87"
  %".94" = and <6 x i32> %".88", splat (i32 65535)
  %".95" = icmp eq <6 x i32> %".94", splat (i32 0)
  %".96" = or <6 x i32> %".88", splat (i32 4194304)
  %".97" = select  <6 x i1> %".95", <6 x i32> %".88", <6 x i32> %".96"
  %".98" = select  <6 x i1> %".93", <6 x i32> %".97", <6 x i32> %".92"
  %".99" = lshr <6 x i32> %".98", splat (i32 16)
  %".100" = trunc <6 x i32> %".99" to <6 x i16>
  %".101" = shufflevector <6 x i16> %".100", <6 x i16> splat (i16 0), <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".102" = bitcast <32 x i16> %".101" to <16 x i32>
  %".103" = getelementptr inbounds i16, ptr %".38", i64 12
  %".104" = load <6 x i16>, ptr %".103", align 2
  %".105" = zext <6 x i16> %".104" to <6 x i32>
  %".106" = shl <6 x i32> %".105", splat (i32 16)
  %".107" = bitcast <6 x i32> %".106" to <6 x float>
  %".108" = bitcast <6 x float> %".107" to <6 x i32>
  %".109" = lshr <6 x i32> %".108", splat (i32 16)
  %".110" = and <6 x i32> %".109", splat (i32 1)
  %".111" = add <6 x i32> %".110", splat (i32 32767)
  %".112" = add <6 x i32> %".108", %".111"
  %".113" = fcmp uno <6 x float> %".107", %".107"
  %".114" = and <6 x i32> %".108", splat (i32 65535)
  %".115" = icmp eq <6 x i32> %".114", splat (i32 0)
  %".116" = or <6 x i32> %".108", splat (i32 4194304)
  %".117" = select  <6 x i1> %".115", <6 x i32> %".108", <6 x i32> %".116"
  %".118" = select  <6 x i1> %".113", <6 x i32> %".117", <6 x i32> %".112"
  %".119" = lshr <6 x i32> %".118", splat (i32 16)
  %".120" = trunc <6 x i32> %".119" to <6 x i16>
  %".121" = shufflevector <6 x i16> %".120", <6 x i16> splat (i16 0), <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".122" = bitcast <32 x i16> %".121" to <16 x i32>
  %".123" = getelementptr inbounds i16, ptr %".38", i64 18
  %".124" = load <6 x i16>, ptr %".123", align 2
  %".125" = zext <6 x i16> %".124" to <6 x i32>
  %".126" = shl <6 x i32> %".125", splat (i32 16)
  %".127" = bitcast <6 x i32> %".126" to <6 x float>
  %".128" = bitcast <6 x float> %".127" to <6 x i32>
  %".129" = lshr <6 x i32> %".128", splat (i32 16)
  %".130" = and <6 x i32> %".129", splat (i32 1)
  %".131" = add <6 x i32> %".130", splat (i32 32767)
  %".132" = add <6 x i32> %".128", %".131"
  %".133" = fcmp uno <6 x float> %".127", %".127"
  %".134" = and <6 x i32> %".128", splat (i32 65535)
  %".135" = icmp eq <6 x i32> %".134", splat (i32 0)
  %".136" = or <6 x i32> %".128", splat (i32 4194304)
  %".137" = select  <6 x i1> %".135", <6 x i32> %".128", <6 x i32> %".136"
  %".138" = select  <6 x i1> %".133", <6 x i32> %".137", <6 x i32> %".132"
  %".139" = lshr <6 x i32> %".138", splat (i32 16)
  %".140" = trunc <6 x i32> %".139" to <6 x i16>
  %".141" = shufflevector <6 x i16> %".140", <6 x i16> splat (i16 0), <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".142" = bitcast <32 x i16> %".141" to <16 x i32>
  %".143" = shufflevector <16 x i32> %".82", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".144" = shufflevector <16 x i32> %".82", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".145" = shufflevector <16 x i32> %".102", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".146" = shufflevector <16 x i32> %".102", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".147" = shufflevector <16 x i32> %".122", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".148" = shufflevector <16 x i32> %".122", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".149" = shufflevector <16 x i32> %".142", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".150" = shufflevector <16 x i32> %".142", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".151" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".152" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".153" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".154" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".155" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".156" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".157" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %".158" = shufflevector <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %".159" = shufflevector <16 x i32> %".143", <16 x i32> %".151", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".160" = shufflevector <16 x i32> %".143", <16 x i32> %".151", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".161" = shufflevector <16 x i32> %".145", <16 x i32> %".153", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".162" = shufflevector <16 x i32> %".145", <16 x i32> %".153", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".163" = shufflevector <16 x i32> %".147", <16 x i32> %".155", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".164" = shufflevector <16 x i32> %".147", <16 x i32> %".155", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".165" = shufflevector <16 x i32> %".149", <16 x i32> %".157", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".166" = shufflevector <16 x i32> %".149", <16 x i32> %".157", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".167" = shufflevector <16 x i32> %".144", <16 x i32> %".152", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".168" = shufflevector <16 x i32> %".144", <16 x i32> %".152", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".169" = shufflevector <16 x i32> %".146", <16 x i32> %".154", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".170" = shufflevector <16 x i32> %".146", <16 x i32> %".154", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".171" = shufflevector <16 x i32> %".148", <16 x i32> %".156", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".172" = shufflevector <16 x i32> %".148", <16 x i32> %".156", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".173" = shufflevector <16 x i32> %".150", <16 x i32> %".158", <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 16, i32 17, i32 18, i32 19, i32 8, i32 9, i32 10, i32 11, i32 24, i32 25, i32 26, i32 27>
  %".174" = shufflevector <16 x i32> %".150", <16 x i32> %".158", <16 x i32> <i32 4, i32 5, i32 6, i32 7, i32 20, i32 21, i32 22, i32 23, i32 12, i32 13, i32 14, i32 15, i32 28, i32 29, i32 30, i32 31>
  %".175" = shufflevector <16 x i32> %".159", <16 x i32> %".163", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".176" = shufflevector <16 x i32> %".159", <16 x i32> %".163", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".177" = shufflevector <16 x i32> %".161", <16 x i32> %".165", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".178" = shufflevector <16 x i32> %".161", <16 x i32> %".165", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".179" = shufflevector <16 x i32> %".160", <16 x i32> %".164", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".180" = shufflevector <16 x i32> %".160", <16 x i32> %".164", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".181" = shufflevector <16 x i32> %".162", <16 x i32> %".166", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".182" = shufflevector <16 x i32> %".162", <16 x i32> %".166", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".183" = shufflevector <16 x i32> %".167", <16 x i32> %".171", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".184" = shufflevector <16 x i32> %".167", <16 x i32> %".171", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".185" = shufflevector <16 x i32> %".169", <16 x i32> %".173", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".186" = shufflevector <16 x i32> %".169", <16 x i32> %".173", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".187" = shufflevector <16 x i32> %".168", <16 x i32> %".172", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".188" = shufflevector <16 x i32> %".168", <16 x i32> %".172", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".189" = shufflevector <16 x i32> %".170", <16 x i32> %".174", <16 x i32> <i32 0, i32 1, i32 16, i32 17, i32 4, i32 5, i32 20, i32 21, i32 8, i32 9, i32 24, i32 25, i32 12, i32 13, i32 28, i32 29>
  %".190" = shufflevector <16 x i32> %".170", <16 x i32> %".174", <16 x i32> <i32 2, i32 3, i32 18, i32 19, i32 6, i32 7, i32 22, i32 23, i32 10, i32 11, i32 26, i32 27, i32 14, i32 15, i32 30, i32 31>
  %".191" = shufflevector <16 x i32> %".175", <16 x i32> %".177", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".192" = shufflevector <16 x i32> %".175", <16 x i32> %".177", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".193" = shufflevector <16 x i32> %".176", <16 x i32> %".178", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".194" = shufflevector <16 x i32> %".176", <16 x i32> %".178", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".195" = shufflevector <16 x i32> %".179", <16 x i32> %".181", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".196" = shufflevector <16 x i32> %".179", <16 x i32> %".181", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".197" = shufflevector <16 x i32> %".180", <16 x i32> %".182", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".198" = shufflevector <16 x i32> %".180", <16 x i32> %".182", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".199" = shufflevector <16 x i32> %".183", <16 x i32> %".185", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".200" = shufflevector <16 x i32> %".183", <16 x i32> %".185", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".201" = shufflevector <16 x i32> %".184", <16 x i32> %".186", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".202" = shufflevector <16 x i32> %".184", <16 x i32> %".186", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".203" = shufflevector <16 x i32> %".187", <16 x i32> %".189", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".204" = shufflevector <16 x i32> %".187", <16 x i32> %".189", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".205" = shufflevector <16 x i32> %".188", <16 x i32> %".190", <16 x i32> <i32 0, i32 16, i32 2, i32 18, i32 4, i32 20, i32 6, i32 22, i32 8, i32 24, i32 10, i32 26, i32 12, i32 28, i32 14, i32 30>
  %".206" = shufflevector <16 x i32> %".188", <16 x i32> %".190", <16 x i32> <i32 1, i32 17, i32 3, i32 19, i32 5, i32 21, i32 7, i32 23, i32 9, i32 25, i32 11, i32 27, i32 13, i32 29, i32 15, i32 31>
  %".207" = getelementptr inbounds i32, ptr %".62", i64 0
  store <16 x i32> %".191", ptr %".207", align 4
  %".209" = getelementptr inbounds i32, ptr %".62", i64 4
  store <16 x i32> %".192", ptr %".209", align 4
  %".211" = getelementptr inbounds i32, ptr %".62", i64 8
  store <16 x i32> %".193", ptr %".211", align 4
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".367", %"done.2"]
  %".214" = icmp slt i64 %"i", 16
  br i1 %".214", label %"body", label %"done"
body:
  br label %"loop.1"
done:
  ret void
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".267", %"body.1"]
  %".217" = icmp slt i64 %"i.1", 3
  br i1 %".217", label %"body.1", label %"done.1"
body.1:
  %".219" = mul i64 %"i.1", 2
  %".220" = mul i64 %".219", 16
  %".221" = add i64 %".220", %"i"
  %".222" = getelementptr inbounds i16, ptr %".48", i64 %".221"
  %".223" = load <16 x i16>, ptr %".222", align 2
  %".224" = zext <16 x i16> %".223" to <16 x i32>
  %".225" = shl <16 x i32> %".224", splat (i32 16)
  %".226" = bitcast <16 x i32> %".225" to <16 x float>
  %".227" = bitcast <16 x float> %".226" to <16 x i32>
  %".228" = lshr <16 x i32> %".227", splat (i32 16)
  %".229" = and <16 x i32> %".228", splat (i32 1)
  %".230" = add <16 x i32> %".229", splat (i32 32767)
  %".231" = add <16 x i32> %".227", %".230"
  %".232" = fcmp uno <16 x float> %".226", %".226"
  %".233" = and <16 x i32> %".227", splat (i32 65535)
  %".234" = icmp eq <16 x i32> %".233", splat (i32 0)
  %".235" = or <16 x i32> %".227", splat (i32 4194304)
  %".236" = select  <16 x i1> %".234", <16 x i32> %".227", <16 x i32> %".235"
  %".237" = select  <16 x i1> %".232", <16 x i32> %".236", <16 x i32> %".231"
  %".238" = lshr <16 x i32> %".237", splat (i32 16)
  %".239" = trunc <16 x i32> %".238" to <16 x i16>
  %".240" = mul i64 %"i.1", 2
  %".241" = add i64 %".240", 1
  %".242" = mul i64 %".241", 16
  %".243" = add i64 %".242", %"i"
  %".244" = getelementptr inbounds i16, ptr %".48", i64 %".243"
  %".245" = load <16 x i16>, ptr %".244", align 2
  %".246" = zext <16 x i16> %".245" to <16 x i32>
  %".247" = shl <16 x i32> %".246", splat (i32 16)
  %".248" = bitcast <16 x i32> %".247" to <16 x float>
  %".249" = bitcast <16 x float> %".248" to <16 x i32>
  %".250" = lshr <16 x i32> %".249", splat (i32 16)
  %".251" = and <16 x i32> %".250", splat (i32 1)
  %".252" = add <16 x i32> %".251", splat (i32 32767)
  %".253" = add <16 x i32> %".249", %".252"
  %".254" = fcmp uno <16 x float> %".248", %".248"
  %".255" = and <16 x i32> %".249", splat (i32 65535)
  %".256" = icmp eq <16 x i32> %".255", splat (i32 0)
  %".257" = or <16 x i32> %".249", splat (i32 4194304)
  %".258" = select  <16 x i1> %".256", <16 x i32> %".249", <16 x i32> %".257"
  %".259" = select  <16 x i1> %".254", <16 x i32> %".258", <16 x i32> %".253"
  %".260" = lshr <16 x i32> %".259", splat (i32 16)
  %".261" = trunc <16 x i32> %".260" to <16 x i16>
  %".262" = shufflevector <16 x i16> %".239", <16 x i16> %".261", <32 x i32> <i32 0, i32 16, i32 1, i32 17, i32 2, i32 18, i32 3, i32 19, i32 4, i32 20, i32 5, i32 21, i32 6, i32 22, i32 7, i32 23, i32 8, i32 24, i32 9, i32 25, i32 10, i32 26, i32 11, i32 27, i32 12, i32 28, i32 13, i32 29, i32 14, i32 30, i32 15, i32 31>
  %".263" = bitcast <32 x i16> %".262" to <16 x i32>
  %".264" = mul i64 %"i.1", 64
  %".265" = getelementptr inbounds i32, ptr %".61", i64 %".264"
  store <16 x i32> %".263", ptr %".265", align 4
  %".267" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  br label %"k"
k:
  %".270" = phi  i64 [0, %"done.1"], [%".319", %"k.body"]
  %".271" = phi  <16 x float> [splat (float              0x0), %"done.1"], [%".288", %"k.body"]
  %".272" = phi  <16 x float> [splat (float              0x0), %"done.1"], [%".298", %"k.body"]
  %".273" = phi  <16 x float> [splat (float              0x0), %"done.1"], [%".308", %"k.body"]
  %".274" = phi  <16 x float> [splat (float              0x0), %"done.1"], [%".318", %"k.body"]
  %".275" = icmp slt i64 %".270", 3
  br i1 %".275", label %"k.body", label %"k.done"
k.body:
  %".277" = mul i64 %".270", 64
  %".278" = getelementptr inbounds i32, ptr %".61", i64 %".277"
  %".279" = load <16 x i32>, ptr %".278", align 4
  %".280" = getelementptr inbounds i32, ptr %".59", i64 0
  %".281" = mul i64 %".270", 4
  %".282" = getelementptr inbounds i32, ptr %".280", i64 %".281"
  %".283" = load i32, ptr %".282", align 4
  %".284" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".283", i32 0
  %".285" = shufflevector <16 x i32> %".284", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> splat (i32 0)
  %".286" = bitcast <16 x i32> %".285" to <32 x bfloat>
  %".287" = bitcast <16 x i32> %".279" to <32 x bfloat>
  %".288" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".271", <32 x bfloat> %".286", <32 x bfloat> %".287")
  %".289" = getelementptr inbounds i32, ptr %".59", i64 0
  %".290" = mul i64 %".270", 4
  %".291" = add i64 %".290", 1
  %".292" = getelementptr inbounds i32, ptr %".289", i64 %".291"
  %".293" = load i32, ptr %".292", align 4
  %".294" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".293", i32 0
  %".295" = shufflevector <16 x i32> %".294", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> splat (i32 0)
  %".296" = bitcast <16 x i32> %".295" to <32 x bfloat>
  %".297" = bitcast <16 x i32> %".279" to <32 x bfloat>
  %".298" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".272", <32 x bfloat> %".296", <32 x bfloat> %".297")
  %".299" = getelementptr inbounds i32, ptr %".59", i64 0
  %".300" = mul i64 %".270", 4
  %".301" = add i64 %".300", 2
  %".302" = getelementptr inbounds i32, ptr %".299", i64 %".301"
  %".303" = load i32, ptr %".302", align 4
  %".304" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".303", i32 0
  %".305" = shufflevector <16 x i32> %".304", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> splat (i32 0)
  %".306" = bitcast <16 x i32> %".305" to <32 x bfloat>
  %".307" = bitcast <16 x i32> %".279" to <32 x bfloat>
  %".308" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".273", <32 x bfloat> %".306", <32 x bfloat> %".307")
  %".309" = getelementptr inbounds i32, ptr %".59", i64 0
  %".310" = mul i64 %".270", 4
  %".311" = add i64 %".310", 3
  %".312" = getelementptr inbounds i32, ptr %".309", i64 %".311"
  %".313" = load i32, ptr %".312", align 4
  %".314" = insertelement <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".313", i32 0
  %".315" = shufflevector <16 x i32> %".314", <16 x i32> <i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef, i32 undef>, <16 x i32> splat (i32 0)
  %".316" = bitcast <16 x i32> %".315" to <32 x bfloat>
  %".317" = bitcast <16 x i32> %".279" to <32 x bfloat>
  %".318" = call <16 x float> @"llvm.x86.avx512bf16.dpbf16ps.512"(<16 x float> %".274", <32 x bfloat> %".316", <32 x bfloat> %".317")
  %".319" = add i64 %".270", 1
  br label %"k"
k.done:
  %".321" = getelementptr inbounds float, ptr %".60", i64 0
  store <16 x float> %".271", ptr %".321", align 4
  %".323" = getelementptr inbounds float, ptr %".60", i64 64
  store <16 x float> %".272", ptr %".323", align 4
  %".325" = getelementptr inbounds float, ptr %".60", i64 128
  store <16 x float> %".273", ptr %".325", align 4
  %".327" = getelementptr inbounds float, ptr %".60", i64 192
  store <16 x float> %".274", ptr %".327", align 4
  br label %"loop.2"
loop.2:
  %"i.2" = phi  i64 [0, %"k.done"], [%".365", %"body.2"]
  %".330" = icmp slt i64 %"i.2", 4
  br i1 %".330", label %"body.2", label %"done.2"
body.2:
  %".332" = mul i64 %"i.2", 64
  %".333" = getelementptr inbounds float, ptr %".60", i64 %".332"
  %".334" = load <16 x float>, ptr %".333", align 4
  %".335" = bitcast <16 x float> %".334" to <16 x i32>
  %".336" = lshr <16 x i32> %".335", splat (i32 16)
  %".337" = and <16 x i32> %".336", splat (i32 1)
  %".338" = add <16 x i32> %".337", splat (i32 32767)
  %".339" = add <16 x i32> %".335", %".338"
  %".340" = fcmp uno <16 x float> %".334", %".334"
  %".341" = and <16 x i32> %".335", splat (i32 65535)
  %".342" = icmp eq <16 x i32> %".341", splat (i32 0)
  %".343" = or <16 x i32> %".335", splat (i32 4194304)
  %".344" = select  <16 x i1> %".342", <16 x i32> %".335", <16 x i32> %".343"
  %".345" = select  <16 x i1> %".340", <16 x i32> %".344", <16 x i32> %".339"
  %".346" = and <16 x i32> %".345", splat (i32 4294901760)
  %".347" = bitcast <16 x i32> %".346" to <16 x float>
  %".348" = mul i64 %"i.2", 16
  %".349" = add i64 %".348", %"i"
  %".350" = getelementptr inbounds i16, ptr %".58", i64 %".349"
  %".351" = bitcast <16 x float> %".347" to <16 x i32>
  %".352" = lshr <16 x i32> %".351", splat (i32 16)
  %".353" = and <16 x i32> %".352", splat (i32 1)
  %".354" = add <16 x i32> %".353", splat (i32 32767)
  %".355" = add <16 x i32> %".351", %".354"
  %".356" = fcmp uno <16 x float> %".347", %".347"
  %".357" = and <16 x i32> %".351", splat (i32 65535)
  %".358" = icmp eq <16 x i32> %".357", splat (i32 0)
  %".359" = or <16 x i32> %".351", splat (i32 4194304)
  %".360" = select  <16 x i1> %".358", <16 x i32> %".351", <16 x i32> %".359"
  %".361" = select  <16 x i1> %".356", <16 x i32> %".360", <16 x i32> %".355"
  %".362" = lshr <16 x i32> %".361", splat (i32 16)
  %".363" = trunc <16 x i32> %".362" to <16 x i16>
  store <16 x i16> %".363", ptr %".350", align 2
  %".365" = add i64 %"i.2", 1
  br label %"loop.2"
done.2:
  %".367" = add i64 %"i", 16
  br label %"loop"
}
