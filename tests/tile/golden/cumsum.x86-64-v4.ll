; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".41" = alloca <4 x float>
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = getelementptr i64, ptr %".2", i64 1
  %".10" = load i64, ptr %".9"
  %".11" = urem i64 %".4", %".10"
  %".12" = udiv i64 %".4", %".10"
  %".13" = getelementptr ptr, ptr %".1", i64 0
  %".14" = load ptr, ptr %".13"
  %".15" = getelementptr ptr, ptr %".1", i64 1
  %".16" = load ptr, ptr %".15"
  %".17" = getelementptr i8, ptr %".3", i64 0
  %".18" = trunc i64 %".12" to i32
  %".19" = trunc i64 %".11" to i32
  %".20" = trunc i64 %".8" to i32
  %".21" = trunc i64 %".10" to i32
  %".22" = trunc i64 %".12" to i32
  %".23" = trunc i64 %".11" to i32
  %".24" = sext i32 %".22" to i64
  %".25" = mul i64 %".24", 4
  %".26" = sext i32 %".23" to i64
  %".27" = mul i64 %".26", 32
  %".28" = mul i64 %".25", 32
  %".29" = add i64 %".28", %".27"
  %".30" = getelementptr float, ptr %".14", i64 %".29"
  %".31" = trunc i64 %".12" to i32
  %".32" = trunc i64 %".11" to i32
  %".33" = sext i32 %".31" to i64
  %".34" = mul i64 %".33", 4
  %".35" = sext i32 %".32" to i64
  %".36" = mul i64 %".35", 32
  %".37" = mul i64 %".34", 32
  %".38" = add i64 %".37", %".36"
  %".39" = getelementptr float, ptr %".16", i64 %".38"
  %".40" = getelementptr i8, ptr %".3", i64 64
  store <4 x float> splat (float              0x0), <4 x float>* %".41"
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".81", %"body"]
  %".44" = icmp slt i64 %"i", 32
  br i1 %".44", label %"body", label %"done"
body:
  %".46" = load <4 x float>, <4 x float>* %".41"
  %".47" = getelementptr inbounds float, ptr %".30", i64 %"i"
  %".48" = getelementptr inbounds float, ptr %".30", i64 %"i"
  %".49" = load float, ptr %".48", align 4
  %".50" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".49", i32 0
  %".51" = add i64 32, %"i"
  %".52" = getelementptr inbounds float, ptr %".30", i64 %".51"
  %".53" = load float, ptr %".52", align 4
  %".54" = insertelement <4 x float> %".50", float %".53", i32 1
  %".55" = add i64 64, %"i"
  %".56" = getelementptr inbounds float, ptr %".30", i64 %".55"
  %".57" = load float, ptr %".56", align 4
  %".58" = insertelement <4 x float> %".54", float %".57", i32 2
  %".59" = add i64 96, %"i"
  %".60" = getelementptr inbounds float, ptr %".30", i64 %".59"
  %".61" = load float, ptr %".60", align 4
  %".62" = insertelement <4 x float> %".58", float %".61", i32 3
  %".63" = fadd <4 x float> %".46", %".62"
  store <4 x float> %".63", <4 x float>* %".41"
  %".65" = getelementptr inbounds float, ptr %".40", i64 %"i"
  %".66" = getelementptr inbounds float, ptr %".40", i64 %"i"
  %".67" = extractelement <4 x float> %".63", i32 0
  store float %".67", ptr %".66", align 4
  %".69" = add i64 32, %"i"
  %".70" = getelementptr inbounds float, ptr %".40", i64 %".69"
  %".71" = extractelement <4 x float> %".63", i32 1
  store float %".71", ptr %".70", align 4
  %".73" = add i64 64, %"i"
  %".74" = getelementptr inbounds float, ptr %".40", i64 %".73"
  %".75" = extractelement <4 x float> %".63", i32 2
  store float %".75", ptr %".74", align 4
  %".77" = add i64 96, %"i"
  %".78" = getelementptr inbounds float, ptr %".40", i64 %".77"
  %".79" = extractelement <4 x float> %".63", i32 3
  store float %".79", ptr %".78", align 4
  %".81" = add i64 %"i", 1
  br label %"loop"
done:
  %".83" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".84" = shufflevector <4 x float> %".83", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".85" = getelementptr inbounds float, ptr %".17", i64 0
  store <4 x float> %".84", ptr %".85", align 4
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [0, %"done"], [%".108", %"done.2"]
  %".88" = icmp slt i64 %"i.1", 4
  br i1 %".88", label %"body.1", label %"done.1"
body.1:
  %".90" = getelementptr inbounds float, ptr %".17", i64 %"i.1"
  %".91" = load float, ptr %".90", align 4
  br label %"loop.2"
done.1:
  %".110" = getelementptr i8, ptr %".3", i64 576
  %".111" = getelementptr inbounds float, ptr %".40", i64 31
  %".112" = getelementptr inbounds float, ptr %".40", i64 31
  %".113" = load float, ptr %".112", align 4
  %".114" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".113", i32 0
  %".115" = getelementptr inbounds float, ptr %".40", i64 63
  %".116" = load float, ptr %".115", align 4
  %".117" = insertelement <4 x float> %".114", float %".116", i32 1
  %".118" = getelementptr inbounds float, ptr %".40", i64 95
  %".119" = load float, ptr %".118", align 4
  %".120" = insertelement <4 x float> %".117", float %".119", i32 2
  %".121" = getelementptr inbounds float, ptr %".40", i64 127
  %".122" = load float, ptr %".121", align 4
  %".123" = insertelement <4 x float> %".120", float %".122", i32 3
  %".124" = getelementptr inbounds float, ptr %".17", i64 0
  %".125" = load <4 x float>, ptr %".124", align 4
  %".126" = fadd <4 x float> %".123", %".125"
  %".127" = getelementptr inbounds float, ptr %".110", i64 0
  store <4 x float> %".126", ptr %".127", align 4
  %".129" = getelementptr inbounds float, ptr %".110", i64 0
  %".130" = load <4 x float>, ptr %".129", align 4
  %".131" = getelementptr inbounds float, ptr %".17", i64 0
  store <4 x float> %".130", ptr %".131", align 4
  ret void
loop.2:
  %"i.2" = phi  i64 [0, %"body.1"], [%".106", %"body.2"]
  %".93" = icmp slt i64 %"i.2", 32
  br i1 %".93", label %"body.2", label %"done.2"
body.2:
  %".95" = mul i64 %"i.1", 32
  %".96" = add i64 %".95", %"i.2"
  %".97" = getelementptr inbounds float, ptr %".40", i64 %".96"
  %".98" = load <16 x float>, ptr %".97", align 4
  %".99" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".91", i32 0
  %".100" = shufflevector <16 x float> %".99", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".101" = fadd <16 x float> %".98", %".100"
  %".102" = mul i64 %"i.1", 32
  %".103" = add i64 %".102", %"i.2"
  %".104" = getelementptr inbounds float, ptr %".39", i64 %".103"
  store <16 x float> %".101", ptr %".104", align 4
  %".106" = add i64 %"i.2", 16
  br label %"loop.2"
done.2:
  %".108" = add i64 %"i.1", 1
  br label %"loop.1"
}
