; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".34" = alloca <16 x float>
  %".87" = alloca <16 x float>
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
  %".15" = trunc i64 %".9" to i32
  %".16" = trunc i64 %".8" to i32
  %".17" = trunc i64 %".9" to i32
  %".18" = sext i32 %".17" to i64
  %".19" = mul i64 %".18", 4
  %".20" = sext i32 0 to i64
  %".21" = mul i64 %".20", 16
  %".22" = mul i64 %".19", 16
  %".23" = add i64 %".22", %".21"
  %".24" = getelementptr float, ptr %".12", i64 %".23"
  %".25" = trunc i64 %".9" to i32
  %".26" = sext i32 %".25" to i64
  %".27" = mul i64 %".26", 4
  %".28" = sext i32 0 to i64
  %".29" = mul i64 %".28", 16
  %".30" = mul i64 %".27", 16
  %".31" = add i64 %".30", %".29"
  %".32" = getelementptr float, ptr %".14", i64 %".31"
  %".33" = getelementptr i8, ptr %".3", i64 0
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".83", %"done.1"]
  %".36" = icmp slt i64 %"i", 4
  br i1 %".36", label %"body", label %"done"
body:
  store <16 x float> splat (float 0xfff0000000000000), <16 x float>* %".34"
  br label %"loop.1"
done:
  %".85" = getelementptr i8, ptr %".3", i64 64
  %".86" = getelementptr i8, ptr %".3", i64 128
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".52", %"body.1"]
  %".40" = icmp slt i64 %"i.1", 16
  br i1 %".40", label %"body.1", label %"done.1"
body.1:
  %".42" = mul i64 %"i", 16
  %".43" = add i64 %".42", %"i.1"
  %".44" = getelementptr inbounds float, ptr %".24", i64 %".43"
  %".45" = load <16 x float>, ptr %".44", align 4
  %".46" = load <16 x float>, <16 x float>* %".34"
  %".47" = fcmp ogt <16 x float> %".46", %".45"
  %".48" = select  <16 x i1> %".47", <16 x float> %".46", <16 x float> %".45"
  %".49" = fcmp uno <16 x float> %".46", %".46"
  %".50" = select  <16 x i1> %".49", <16 x float> %".46", <16 x float> %".48"
  store <16 x float> %".50", <16 x float>* %".34"
  %".52" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  %".54" = load <16 x float>, <16 x float>* %".34"
  %".55" = shufflevector <16 x float> %".54", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".56" = shufflevector <16 x float> %".54", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".57" = fcmp ogt <8 x float> %".55", %".56"
  %".58" = select  <8 x i1> %".57", <8 x float> %".55", <8 x float> %".56"
  %".59" = fcmp uno <8 x float> %".55", %".55"
  %".60" = select  <8 x i1> %".59", <8 x float> %".55", <8 x float> %".58"
  %".61" = shufflevector <8 x float> %".60", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".62" = shufflevector <8 x float> %".60", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".63" = fcmp ogt <4 x float> %".61", %".62"
  %".64" = select  <4 x i1> %".63", <4 x float> %".61", <4 x float> %".62"
  %".65" = fcmp uno <4 x float> %".61", %".61"
  %".66" = select  <4 x i1> %".65", <4 x float> %".61", <4 x float> %".64"
  %".67" = shufflevector <4 x float> %".66", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".68" = shufflevector <4 x float> %".66", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".69" = fcmp ogt <2 x float> %".67", %".68"
  %".70" = select  <2 x i1> %".69", <2 x float> %".67", <2 x float> %".68"
  %".71" = fcmp uno <2 x float> %".67", %".67"
  %".72" = select  <2 x i1> %".71", <2 x float> %".67", <2 x float> %".70"
  %".73" = shufflevector <2 x float> %".72", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".74" = shufflevector <2 x float> %".72", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".75" = extractelement <1 x float> %".73", i32 0
  %".76" = extractelement <1 x float> %".74", i32 0
  %".77" = fcmp ogt float %".75", %".76"
  %".78" = select  i1 %".77", float %".75", float %".76"
  %".79" = fcmp uno float %".75", %".75"
  %".80" = select  i1 %".79", float %".75", float %".78"
  %".81" = getelementptr inbounds float, ptr %".33", i64 %"i"
  store float %".80", ptr %".81", align 4
  %".83" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [0, %"done"], [%".131", %"done.3"]
  %".89" = icmp slt i64 %"i.2", 4
  br i1 %".89", label %"body.2", label %"done.2"
body.2:
  store <16 x float> splat (float              0x0), <16 x float>* %".87"
  %".92" = getelementptr inbounds float, ptr %".33", i64 %"i.2"
  %".93" = load float, ptr %".92", align 4
  br label %"loop.3"
done.2:
  br label %"loop.4"
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".112", %"body.3"]
  %".95" = icmp slt i64 %"i.3", 16
  br i1 %".95", label %"body.3", label %"done.3"
body.3:
  %".97" = mul i64 %"i.2", 16
  %".98" = add i64 %".97", %"i.3"
  %".99" = getelementptr inbounds float, ptr %".24", i64 %".98"
  %".100" = load <16 x float>, ptr %".99", align 4
  %".101" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".93", i32 0
  %".102" = shufflevector <16 x float> %".101", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".103" = fsub <16 x float> %".100", %".102"
  %".104" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".103")
  %".105" = mul i64 %"i.2", 16
  %".106" = add i64 %".105", %"i.3"
  %".107" = getelementptr inbounds float, ptr %".86", i64 %".106"
  store <16 x float> %".104", ptr %".107", align 4
  %".109" = load <16 x float>, <16 x float>* %".87"
  %".110" = fadd <16 x float> %".109", %".104"
  store <16 x float> %".110", <16 x float>* %".87"
  %".112" = add i64 %"i.3", 16
  br label %"loop.3"
done.3:
  %".114" = load <16 x float>, <16 x float>* %".87"
  %".115" = shufflevector <16 x float> %".114", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".116" = shufflevector <16 x float> %".114", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".117" = fadd <8 x float> %".115", %".116"
  %".118" = shufflevector <8 x float> %".117", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".119" = shufflevector <8 x float> %".117", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".120" = fadd <4 x float> %".118", %".119"
  %".121" = shufflevector <4 x float> %".120", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".122" = shufflevector <4 x float> %".120", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".123" = fadd <2 x float> %".121", %".122"
  %".124" = shufflevector <2 x float> %".123", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".125" = shufflevector <2 x float> %".123", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".126" = extractelement <1 x float> %".124", i32 0
  %".127" = extractelement <1 x float> %".125", i32 0
  %".128" = fadd float %".126", %".127"
  %".129" = getelementptr inbounds float, ptr %".85", i64 %"i.2"
  store float %".128", ptr %".129", align 4
  %".131" = add i64 %"i.2", 1
  br label %"loop.2"
loop.4:
  %"i.4" = phi  i64 [0, %"done.2"], [%".147", %"body.4"]
  %".134" = icmp slt i64 %"i.4", 4
  br i1 %".134", label %"body.4", label %"done.4"
body.4:
  %".136" = getelementptr inbounds float, ptr %".85", i64 %"i.4"
  %".137" = load float, ptr %".136", align 4
  %".138" = mul i64 %"i.4", 16
  %".139" = getelementptr inbounds float, ptr %".86", i64 %".138"
  %".140" = load <16 x float>, ptr %".139", align 4
  %".141" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".137", i32 0
  %".142" = shufflevector <16 x float> %".141", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".143" = fdiv <16 x float> %".140", %".142"
  %".144" = mul i64 %"i.4", 16
  %".145" = getelementptr inbounds float, ptr %".32", i64 %".144"
  store <16 x float> %".143", ptr %".145", align 4
  %".147" = add i64 %"i.4", 1
  br label %"loop.4"
done.4:
  ret void
}
