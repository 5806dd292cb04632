; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".32" = alloca <16 x float>
  %".70" = alloca <16 x float>
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = getelementptr ptr, ptr %".1", i64 0
  %".10" = load ptr, ptr %".9"
  %".11" = getelementptr ptr, ptr %".1", i64 1
  %".12" = load ptr, ptr %".11"
  %".13" = trunc i64 %".4" to i32
  %".14" = trunc i64 %".8" to i32
  %".15" = trunc i64 %".4" to i32
  %".16" = sext i32 %".15" to i64
  %".17" = mul i64 %".16", 4
  %".18" = sext i32 0 to i64
  %".19" = mul i64 %".18", 16
  %".20" = mul i64 %".17", 16
  %".21" = add i64 %".20", %".19"
  %".22" = getelementptr float, ptr %".10", i64 %".21"
  %".23" = trunc i64 %".4" to i32
  %".24" = sext i32 %".23" to i64
  %".25" = mul i64 %".24", 4
  %".26" = sext i32 0 to i64
  %".27" = mul i64 %".26", 16
  %".28" = mul i64 %".25", 16
  %".29" = add i64 %".28", %".27"
  %".30" = getelementptr float, ptr %".12", i64 %".29"
  %".31" = getelementptr i8, ptr %".3", i64 0
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".66", %"done.1"]
  %".34" = icmp slt i64 %"i", 4
  br i1 %".34", label %"body", label %"done"
body:
  store <16 x float> splat (float 0xfff0000000000000), <16 x float>* %".32"
  br label %"loop.1"
done:
  %".68" = getelementptr i8, ptr %".3", i64 64
  %".69" = getelementptr i8, ptr %".3", i64 128
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".47", %"body.1"]
  %".38" = icmp slt i64 %"i.1", 16
  br i1 %".38", label %"body.1", label %"done.1"
body.1:
  %".40" = mul i64 %"i", 16
  %".41" = add i64 %".40", %"i.1"
  %".42" = getelementptr inbounds float, ptr %".22", i64 %".41"
  %".43" = load <16 x float>, ptr %".42", align 4
  %".44" = load <16 x float>, <16 x float>* %".32"
  %".45" = call <16 x float> @"llvm.maximum.v16f32"(<16 x float> %".43", <16 x float> %".44")
  store <16 x float> %".45", <16 x float>* %".32"
  %".47" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  %".49" = load <16 x float>, <16 x float>* %".32"
  %".50" = shufflevector <16 x float> %".49", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".51" = shufflevector <16 x float> %".49", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".52" = call <8 x float> @"llvm.maximum.v8f32"(<8 x float> %".51", <8 x float> %".50")
  %".53" = shufflevector <8 x float> %".52", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".54" = shufflevector <8 x float> %".52", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".55" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".54", <4 x float> %".53")
  %".56" = shufflevector <4 x float> %".55", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".57" = shufflevector <4 x float> %".55", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".58" = call <2 x float> @"llvm.maximum.v2f32"(<2 x float> %".57", <2 x float> %".56")
  %".59" = shufflevector <2 x float> %".58", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".60" = shufflevector <2 x float> %".58", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".61" = extractelement <1 x float> %".59", i32 0
  %".62" = extractelement <1 x float> %".60", i32 0
  %".63" = call float @"llvm.maximum.f32"(float %".62", float %".61")
  %".64" = getelementptr inbounds float, ptr %".31", i64 %"i"
  store float %".63", ptr %".64", align 4
  %".66" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [0, %"done"], [%".114", %"done.3"]
  %".72" = icmp slt i64 %"i.2", 4
  br i1 %".72", label %"body.2", label %"done.2"
body.2:
  store <16 x float> splat (float              0x0), <16 x float>* %".70"
  %".75" = getelementptr inbounds float, ptr %".31", i64 %"i.2"
  %".76" = load float, ptr %".75", align 4
  br label %"loop.3"
done.2:
  br label %"loop.4"
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".95", %"body.3"]
  %".78" = icmp slt i64 %"i.3", 16
  br i1 %".78", label %"body.3", label %"done.3"
body.3:
  %".80" = mul i64 %"i.2", 16
  %".81" = add i64 %".80", %"i.3"
  %".82" = getelementptr inbounds float, ptr %".22", i64 %".81"
  %".83" = load <16 x float>, ptr %".82", align 4
  %".84" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".76", i32 0
  %".85" = shufflevector <16 x float> %".84", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".86" = fsub <16 x float> %".83", %".85"
  %".87" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".86")
  %".88" = mul i64 %"i.2", 16
  %".89" = add i64 %".88", %"i.3"
  %".90" = getelementptr inbounds float, ptr %".69", i64 %".89"
  store <16 x float> %".87", ptr %".90", align 4
  %".92" = load <16 x float>, <16 x float>* %".70"
  %".93" = fadd <16 x float> %".92", %".87"
  store <16 x float> %".93", <16 x float>* %".70"
  %".95" = add i64 %"i.3", 16
  br label %"loop.3"
done.3:
  %".97" = load <16 x float>, <16 x float>* %".70"
  %".98" = shufflevector <16 x float> %".97", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".99" = shufflevector <16 x float> %".97", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".100" = fadd <8 x float> %".98", %".99"
  %".101" = shufflevector <8 x float> %".100", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".102" = shufflevector <8 x float> %".100", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".103" = fadd <4 x float> %".101", %".102"
  %".104" = shufflevector <4 x float> %".103", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".105" = shufflevector <4 x float> %".103", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".106" = fadd <2 x float> %".104", %".105"
  %".107" = shufflevector <2 x float> %".106", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".108" = shufflevector <2 x float> %".106", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".109" = extractelement <1 x float> %".107", i32 0
  %".110" = extractelement <1 x float> %".108", i32 0
  %".111" = fadd float %".109", %".110"
  %".112" = getelementptr inbounds float, ptr %".68", i64 %"i.2"
  store float %".111", ptr %".112", align 4
  %".114" = add i64 %"i.2", 1
  br label %"loop.2"
loop.4:
  %"i.4" = phi  i64 [0, %"done.2"], [%".130", %"body.4"]
  %".117" = icmp slt i64 %"i.4", 4
  br i1 %".117", label %"body.4", label %"done.4"
body.4:
  %".119" = getelementptr inbounds float, ptr %".68", i64 %"i.4"
  %".120" = load float, ptr %".119", align 4
  %".121" = mul i64 %"i.4", 16
  %".122" = getelementptr inbounds float, ptr %".69", i64 %".121"
  %".123" = load <16 x float>, ptr %".122", align 4
  %".124" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".120", i32 0
  %".125" = shufflevector <16 x float> %".124", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".126" = fdiv <16 x float> %".123", %".125"
  %".127" = mul i64 %"i.4", 16
  %".128" = getelementptr inbounds float, ptr %".30", i64 %".127"
  store <16 x float> %".126", ptr %".128", align 4
  %".130" = add i64 %"i.4", 1
  br label %"loop.4"
done.4:
  ret void
}
