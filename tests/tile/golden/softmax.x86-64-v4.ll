; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".34" = alloca <16 x float>
  %".72" = alloca <16 x float>
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
  %"i" = phi  i64 [0, %"start"], [%".68", %"done.1"]
  %".36" = icmp slt i64 %"i", 4
  br i1 %".36", label %"body", label %"done"
body:
  store <16 x float> splat (float 0xfff0000000000000), <16 x float>* %".34"
  br label %"loop.1"
done:
  %".70" = getelementptr i8, ptr %".3", i64 64
  %".71" = getelementptr i8, ptr %".3", i64 128
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".49", %"body.1"]
  %".40" = icmp slt i64 %"i.1", 16
  br i1 %".40", label %"body.1", label %"done.1"
body.1:
  %".42" = mul i64 %"i", 16
  %".43" = add i64 %".42", %"i.1"
  %".44" = getelementptr inbounds float, ptr %".24", i64 %".43"
  %".45" = load <16 x float>, ptr %".44", align 4
  %".46" = load <16 x float>, <16 x float>* %".34"
  %".47" = call <16 x float> @"llvm.maximum.v16f32"(<16 x float> %".45", <16 x float> %".46")
  store <16 x float> %".47", <16 x float>* %".34"
  %".49" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  %".51" = load <16 x float>, <16 x float>* %".34"
  %".52" = shufflevector <16 x float> %".51", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".53" = shufflevector <16 x float> %".51", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".54" = call <8 x float> @"llvm.maximum.v8f32"(<8 x float> %".53", <8 x float> %".52")
  %".55" = shufflevector <8 x float> %".54", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".56" = shufflevector <8 x float> %".54", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".57" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".56", <4 x float> %".55")
  %".58" = shufflevector <4 x float> %".57", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".59" = shufflevector <4 x float> %".57", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".60" = call <2 x float> @"llvm.maximum.v2f32"(<2 x float> %".59", <2 x float> %".58")
  %".61" = shufflevector <2 x float> %".60", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".62" = shufflevector <2 x float> %".60", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".63" = extractelement <1 x float> %".61", i32 0
  %".64" = extractelement <1 x float> %".62", i32 0
  %".65" = call float @"llvm.maximum.f32"(float %".64", float %".63")
  %".66" = getelementptr inbounds float, ptr %".33", i64 %"i"
  store float %".65", ptr %".66", align 4
  %".68" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [0, %"done"], [%".116", %"done.3"]
  %".74" = icmp slt i64 %"i.2", 4
  br i1 %".74", label %"body.2", label %"done.2"
body.2:
  store <16 x float> splat (float              0x0), <16 x float>* %".72"
  %".77" = getelementptr inbounds float, ptr %".33", i64 %"i.2"
  %".78" = load float, ptr %".77", align 4
  br label %"loop.3"
done.2:
  br label %"loop.4"
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".97", %"body.3"]
  %".80" = icmp slt i64 %"i.3", 16
  br i1 %".80", label %"body.3", label %"done.3"
body.3:
  %".82" = mul i64 %"i.2", 16
  %".83" = add i64 %".82", %"i.3"
  %".84" = getelementptr inbounds float, ptr %".24", i64 %".83"
  %".85" = load <16 x float>, ptr %".84", align 4
  %".86" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".78", i32 0
  %".87" = shufflevector <16 x float> %".86", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".88" = fsub <16 x float> %".85", %".87"
  %".89" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".88")
  %".90" = mul i64 %"i.2", 16
  %".91" = add i64 %".90", %"i.3"
  %".92" = getelementptr inbounds float, ptr %".71", i64 %".91"
  store <16 x float> %".89", ptr %".92", align 4
  %".94" = load <16 x float>, <16 x float>* %".72"
  %".95" = fadd <16 x float> %".94", %".89"
  store <16 x float> %".95", <16 x float>* %".72"
  %".97" = add i64 %"i.3", 16
  br label %"loop.3"
done.3:
  %".99" = load <16 x float>, <16 x float>* %".72"
  %".100" = shufflevector <16 x float> %".99", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".101" = shufflevector <16 x float> %".99", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".102" = fadd <8 x float> %".100", %".101"
  %".103" = shufflevector <8 x float> %".102", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".104" = shufflevector <8 x float> %".102", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".105" = fadd <4 x float> %".103", %".104"
  %".106" = shufflevector <4 x float> %".105", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".107" = shufflevector <4 x float> %".105", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".108" = fadd <2 x float> %".106", %".107"
  %".109" = shufflevector <2 x float> %".108", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".110" = shufflevector <2 x float> %".108", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".111" = extractelement <1 x float> %".109", i32 0
  %".112" = extractelement <1 x float> %".110", i32 0
  %".113" = fadd float %".111", %".112"
  %".114" = getelementptr inbounds float, ptr %".70", i64 %"i.2"
  store float %".113", ptr %".114", align 4
  %".116" = add i64 %"i.2", 1
  br label %"loop.2"
loop.4:
  %"i.4" = phi  i64 [0, %"done.2"], [%".132", %"body.4"]
  %".119" = icmp slt i64 %"i.4", 4
  br i1 %".119", label %"body.4", label %"done.4"
body.4:
  %".121" = getelementptr inbounds float, ptr %".70", i64 %"i.4"
  %".122" = load float, ptr %".121", align 4
  %".123" = mul i64 %"i.4", 16
  %".124" = getelementptr inbounds float, ptr %".71", i64 %".123"
  %".125" = load <16 x float>, ptr %".124", align 4
  %".126" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".122", i32 0
  %".127" = shufflevector <16 x float> %".126", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".128" = fdiv <16 x float> %".125", %".127"
  %".129" = mul i64 %"i.4", 16
  %".130" = getelementptr inbounds float, ptr %".32", i64 %".129"
  store <16 x float> %".128", ptr %".130", align 4
  %".132" = add i64 %"i.4", 1
  br label %"loop.4"
done.4:
  ret void
}
