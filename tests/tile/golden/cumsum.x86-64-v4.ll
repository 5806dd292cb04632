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
  %".89" = getelementptr i8, ptr %".3", i64 576
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [0, %"done"], [%".111", %"done.2"]
  %".91" = icmp slt i64 %"i.1", 4
  br i1 %".91", label %"body.1", label %"done.1"
body.1:
  %".93" = getelementptr inbounds float, ptr %".19", i64 %"i.1"
  %".94" = load float, ptr %".93", align 4
  br label %"loop.2"
done.1:
  br label %"loop.3"
loop.2:
  %"i.2" = phi  i64 [0, %"body.1"], [%".109", %"body.2"]
  %".96" = icmp slt i64 %"i.2", 32
  br i1 %".96", label %"body.2", label %"done.2"
body.2:
  %".98" = mul i64 %"i.1", 32
  %".99" = add i64 %".98", %"i.2"
  %".100" = getelementptr inbounds float, ptr %".42", i64 %".99"
  %".101" = load <16 x float>, ptr %".100", align 4
  %".102" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".94", i32 0
  %".103" = shufflevector <16 x float> %".102", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".104" = fadd <16 x float> %".101", %".103"
  %".105" = mul i64 %"i.1", 32
  %".106" = add i64 %".105", %"i.2"
  %".107" = getelementptr inbounds float, ptr %".89", i64 %".106"
  store <16 x float> %".104", ptr %".107", align 4
  %".109" = add i64 %"i.2", 16
  br label %"loop.2"
done.2:
  %".111" = add i64 %"i.1", 1
  br label %"loop.1"
loop.3:
  %"i.3" = phi  i64 [0, %"done.1"], [%".129", %"done.4"]
  %".114" = icmp slt i64 %"i.3", 4
  br i1 %".114", label %"body.3", label %"done.3"
body.3:
  br label %"loop.4"
done.3:
  %".131" = getelementptr inbounds float, ptr %".89", i64 31
  %".132" = getelementptr inbounds float, ptr %".89", i64 31
  %".133" = load float, ptr %".132", align 4
  %".134" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".133", i32 0
  %".135" = getelementptr inbounds float, ptr %".89", i64 63
  %".136" = load float, ptr %".135", align 4
  %".137" = insertelement <4 x float> %".134", float %".136", i32 1
  %".138" = getelementptr inbounds float, ptr %".89", i64 95
  %".139" = load float, ptr %".138", align 4
  %".140" = insertelement <4 x float> %".137", float %".139", i32 2
  %".141" = getelementptr inbounds float, ptr %".89", i64 127
  %".142" = load float, ptr %".141", align 4
  %".143" = insertelement <4 x float> %".140", float %".142", i32 3
  %".144" = getelementptr inbounds float, ptr %".19", i64 0
  store <4 x float> %".143", ptr %".144", align 4
  ret void
loop.4:
  %"i.4" = phi  i64 [0, %"body.3"], [%".127", %"body.4"]
  %".117" = icmp slt i64 %"i.4", 32
  br i1 %".117", label %"body.4", label %"done.4"
body.4:
  %".119" = mul i64 %"i.3", 32
  %".120" = add i64 %".119", %"i.4"
  %".121" = getelementptr inbounds float, ptr %".89", i64 %".120"
  %".122" = load <16 x float>, ptr %".121", align 4
  %".123" = mul i64 %"i.3", 32
  %".124" = add i64 %".123", %"i.4"
  %".125" = getelementptr inbounds float, ptr %".41", i64 %".124"
  store <16 x float> %".122", ptr %".125", align 4
  %".127" = add i64 %"i.4", 16
  br label %"loop.4"
done.4:
  %".129" = add i64 %"i.3", 1
  br label %"loop.3"
}
