; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".40" = alloca <16 x float>
  %".41" = alloca <16 x float>
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
  %".15" = getelementptr ptr, ptr %".1", i64 2
  %".16" = load ptr, ptr %".15"
  %".17" = trunc i64 %".9" to i32
  %".18" = trunc i64 %".8" to i32
  %".19" = trunc i64 %".9" to i32
  %".20" = sext i32 %".19" to i64
  %".21" = mul i64 %".20", 4
  %".22" = sext i32 0 to i64
  %".23" = mul i64 %".22", 32
  %".24" = mul i64 %".21", 32
  %".25" = add i64 %".24", %".23"
  %".26" = getelementptr float, ptr %".12", i64 %".25"
  %".27" = trunc i64 %".9" to i32
  %".28" = sext i32 0 to i64
  %".29" = mul i64 %".28", 32
  %".30" = getelementptr float, ptr %".14", i64 %".29"
  %".31" = trunc i64 %".9" to i32
  %".32" = sext i32 %".31" to i64
  %".33" = mul i64 %".32", 4
  %".34" = sext i32 0 to i64
  %".35" = mul i64 %".34", 32
  %".36" = mul i64 %".33", 32
  %".37" = add i64 %".36", %".35"
  %".38" = getelementptr float, ptr %".16", i64 %".37"
  %".39" = getelementptr i8, ptr %".3", i64 0
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".88", %"done.1"]
  %".43" = icmp slt i64 %"i", 4
  br i1 %".43", label %"body", label %"done"
body:
  store <16 x float> splat (float              0x0), <16 x float>* %".40"
  store <16 x float> splat (float              0x0), <16 x float>* %".41"
  br label %"loop.1"
done:
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".67", %"body.1"]
  %".48" = icmp slt i64 %"i.1", 32
  br i1 %".48", label %"body.1", label %"done.1"
body.1:
  %".50" = mul i64 %"i", 32
  %".51" = add i64 %".50", %"i.1"
  %".52" = getelementptr inbounds float, ptr %".26", i64 %".51"
  %".53" = load <16 x float>, ptr %".52", align 4
  %".54" = fmul <16 x float> %".53", %".53"
  %".55" = load <16 x float>, <16 x float>* %".40"
  %".56" = fadd <16 x float> %".55", %".54"
  store <16 x float> %".56", <16 x float>* %".40"
  %".58" = add i64 %"i.1", 16
  %".59" = mul i64 %"i", 32
  %".60" = add i64 %".59", %".58"
  %".61" = getelementptr inbounds float, ptr %".26", i64 %".60"
  %".62" = load <16 x float>, ptr %".61", align 4
  %".63" = fmul <16 x float> %".62", %".62"
  %".64" = load <16 x float>, <16 x float>* %".41"
  %".65" = fadd <16 x float> %".64", %".63"
  store <16 x float> %".65", <16 x float>* %".41"
  %".67" = add i64 %"i.1", 32
  br label %"loop.1"
done.1:
  %".69" = load <16 x float>, <16 x float>* %".40"
  %".70" = load <16 x float>, <16 x float>* %".41"
  %".71" = fadd <16 x float> %".69", %".70"
  %".72" = shufflevector <16 x float> %".71", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".73" = shufflevector <16 x float> %".71", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".74" = fadd <8 x float> %".72", %".73"
  %".75" = shufflevector <8 x float> %".74", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".76" = shufflevector <8 x float> %".74", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".77" = fadd <4 x float> %".75", %".76"
  %".78" = shufflevector <4 x float> %".77", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".79" = shufflevector <4 x float> %".77", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".80" = fadd <2 x float> %".78", %".79"
  %".81" = shufflevector <2 x float> %".80", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".82" = shufflevector <2 x float> %".80", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".83" = extractelement <1 x float> %".81", i32 0
  %".84" = extractelement <1 x float> %".82", i32 0
  %".85" = fadd float %".83", %".84"
  %".86" = getelementptr inbounds float, ptr %".39", i64 %"i"
  store float %".85", ptr %".86", align 4
  %".88" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [0, %"done"], [%".118", %"done.3"]
  %".91" = icmp slt i64 %"i.2", 4
  br i1 %".91", label %"body.2", label %"done.2"
body.2:
  %".93" = getelementptr inbounds float, ptr %".39", i64 %"i.2"
  %".94" = load float, ptr %".93", align 4
  %".95" = fmul float %".94", 0x3fa0000000000000
  %".96" = fadd float %".95", 0x3eb0c6f7a0000000
  %".97" = call float @"llvm.sqrt.f32"(float %".96")
  %".98" = fdiv float 0x3ff0000000000000, %".97"
  br label %"loop.3"
done.2:
  ret void
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".116", %"body.3"]
  %".100" = icmp slt i64 %"i.3", 32
  br i1 %".100", label %"body.3", label %"done.3"
body.3:
  %".102" = mul i64 %"i.2", 32
  %".103" = add i64 %".102", %"i.3"
  %".104" = getelementptr inbounds float, ptr %".26", i64 %".103"
  %".105" = load <16 x float>, ptr %".104", align 4
  %".106" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".98", i32 0
  %".107" = shufflevector <16 x float> %".106", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".108" = fmul <16 x float> %".105", %".107"
  %".109" = getelementptr inbounds float, ptr %".30", i64 %"i.3"
  %".110" = load <16 x float>, ptr %".109", align 4
  %".111" = fmul <16 x float> %".108", %".110"
  %".112" = mul i64 %"i.2", 32
  %".113" = add i64 %".112", %"i.3"
  %".114" = getelementptr inbounds float, ptr %".38", i64 %".113"
  store <16 x float> %".111", ptr %".114", align 4
  %".116" = add i64 %"i.3", 16
  br label %"loop.3"
done.3:
  %".118" = add i64 %"i.2", 1
  br label %"loop.2"
}
