; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".43" = alloca <4 x float>
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = getelementptr i64, ptr %".2", i64 1
  %".10" = load i64, ptr %".9"
  %".11" = urem i64 %".4", %".10"
  %".12" = udiv i64 %".4", %".10"
  %".13" = urem i64 %".12", %".8"
  %".14" = udiv i64 %".12", %".8"
  %".15" = getelementptr ptr, ptr %".1", i64 0
  %".16" = load ptr, ptr %".15"
  %".17" = getelementptr ptr, ptr %".1", i64 1
  %".18" = load ptr, ptr %".17"
  %".19" = getelementptr i8, ptr %".3", i64 0
  %".20" = trunc i64 %".13" to i32
  %".21" = trunc i64 %".11" to i32
  %".22" = trunc i64 %".8" to i32
  %".23" = trunc i64 %".10" to i32
  %".24" = trunc i64 %".13" to i32
  %".25" = trunc i64 %".11" to i32
  %".26" = sext i32 %".24" to i64
  %".27" = mul i64 %".26", 4
  %".28" = sext i32 %".25" to i64
  %".29" = mul i64 %".28", 32
  %".30" = mul i64 %".27", 32
  %".31" = add i64 %".30", %".29"
  %".32" = getelementptr float, ptr %".16", i64 %".31"
  %".33" = trunc i64 %".13" to i32
  %".34" = trunc i64 %".11" to i32
  %".35" = sext i32 %".33" to i64
  %".36" = mul i64 %".35", 4
  %".37" = sext i32 %".34" to i64
  %".38" = mul i64 %".37", 32
  %".39" = mul i64 %".36", 32
  %".40" = add i64 %".39", %".38"
  %".41" = getelementptr float, ptr %".18", i64 %".40"
  %".42" = getelementptr i8, ptr %".3", i64 64
  store <4 x float> splat (float              0x0), <4 x float>* %".43"
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".83", %"body"]
  %".46" = icmp slt i64 %"i", 32
  br i1 %".46", label %"body", label %"done"
body:
  %".48" = load <4 x float>, <4 x float>* %".43"
  %".49" = getelementptr inbounds float, ptr %".32", i64 %"i"
  %".50" = getelementptr inbounds float, ptr %".32", i64 %"i"
  %".51" = load float, ptr %".50", align 4
  %".52" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".51", i32 0
  %".53" = add i64 32, %"i"
  %".54" = getelementptr inbounds float, ptr %".32", i64 %".53"
  %".55" = load float, ptr %".54", align 4
  %".56" = insertelement <4 x float> %".52", float %".55", i32 1
  %".57" = add i64 64, %"i"
  %".58" = getelementptr inbounds float, ptr %".32", i64 %".57"
  %".59" = load float, ptr %".58", align 4
  %".60" = insertelement <4 x float> %".56", float %".59", i32 2
  %".61" = add i64 96, %"i"
  %".62" = getelementptr inbounds float, ptr %".32", i64 %".61"
  %".63" = load float, ptr %".62", align 4
  %".64" = insertelement <4 x float> %".60", float %".63", i32 3
  %".65" = fadd <4 x float> %".48", %".64"
  store <4 x float> %".65", <4 x float>* %".43"
  %".67" = getelementptr inbounds float, ptr %".42", i64 %"i"
  %".68" = getelementptr inbounds float, ptr %".42", i64 %"i"
  %".69" = extractelement <4 x float> %".65", i32 0
  store float %".69", ptr %".68", align 4
  %".71" = add i64 32, %"i"
  %".72" = getelementptr inbounds float, ptr %".42", i64 %".71"
  %".73" = extractelement <4 x float> %".65", i32 1
  store float %".73", ptr %".72", align 4
  %".75" = add i64 64, %"i"
  %".76" = getelementptr inbounds float, ptr %".42", i64 %".75"
  %".77" = extractelement <4 x float> %".65", i32 2
  store float %".77", ptr %".76", align 4
  %".79" = add i64 96, %"i"
  %".80" = getelementptr inbounds float, ptr %".42", i64 %".79"
  %".81" = extractelement <4 x float> %".65", i32 3
  store float %".81", ptr %".80", align 4
  %".83" = add i64 %"i", 1
  br label %"loop"
done:
  %".85" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".86" = shufflevector <4 x float> %".85", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".87" = getelementptr inbounds float, ptr %".19", i64 0
  store <4 x float> %".86", ptr %".87", align 4
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [0, %"done"], [%".110", %"done.2"]
  %".90" = icmp slt i64 %"i.1", 4
  br i1 %".90", label %"body.1", label %"done.1"
body.1:
  %".92" = getelementptr inbounds float, ptr %".19", i64 %"i.1"
  %".93" = load float, ptr %".92", align 4
  br label %"loop.2"
done.1:
  %".112" = getelementptr i8, ptr %".3", i64 576
  %".113" = getelementptr inbounds float, ptr %".42", i64 31
  %".114" = getelementptr inbounds float, ptr %".42", i64 31
  %".115" = load float, ptr %".114", align 4
  %".116" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".115", i32 0
  %".117" = getelementptr inbounds float, ptr %".42", i64 63
  %".118" = load float, ptr %".117", align 4
  %".119" = insertelement <4 x float> %".116", float %".118", i32 1
  %".120" = getelementptr inbounds float, ptr %".42", i64 95
  %".121" = load float, ptr %".120", align 4
  %".122" = insertelement <4 x float> %".119", float %".121", i32 2
  %".123" = getelementptr inbounds float, ptr %".42", i64 127
  %".124" = load float, ptr %".123", align 4
  %".125" = insertelement <4 x float> %".122", float %".124", i32 3
  %".126" = getelementptr inbounds float, ptr %".19", i64 0
  %".127" = load <4 x float>, ptr %".126", align 4
  %".128" = fadd <4 x float> %".125", %".127"
  %".129" = getelementptr inbounds float, ptr %".112", i64 0
  store <4 x float> %".128", ptr %".129", align 4
  %".131" = getelementptr inbounds float, ptr %".112", i64 0
  %".132" = load <4 x float>, ptr %".131", align 4
  %".133" = getelementptr inbounds float, ptr %".19", i64 0
  store <4 x float> %".132", ptr %".133", align 4
  ret void
loop.2:
  %"i.2" = phi  i64 [0, %"body.1"], [%".108", %"body.2"]
  %".95" = icmp slt i64 %"i.2", 32
  br i1 %".95", label %"body.2", label %"done.2"
body.2:
  %".97" = mul i64 %"i.1", 32
  %".98" = add i64 %".97", %"i.2"
  %".99" = getelementptr inbounds float, ptr %".42", i64 %".98"
  %".100" = load <16 x float>, ptr %".99", align 4
  %".101" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".93", i32 0
  %".102" = shufflevector <16 x float> %".101", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".103" = fadd <16 x float> %".100", %".102"
  %".104" = mul i64 %"i.1", 32
  %".105" = add i64 %".104", %"i.2"
  %".106" = getelementptr inbounds float, ptr %".41", i64 %".105"
  store <16 x float> %".103", ptr %".106", align 4
  %".108" = add i64 %"i.2", 16
  br label %"loop.2"
done.2:
  %".110" = add i64 %"i.1", 1
  br label %"loop.1"
}
