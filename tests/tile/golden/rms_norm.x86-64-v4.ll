; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".38" = alloca <16 x float>
  %".39" = alloca <16 x float>
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = getelementptr ptr, ptr %".1", i64 0
  %".10" = load ptr, ptr %".9"
  %".11" = getelementptr ptr, ptr %".1", i64 1
  %".12" = load ptr, ptr %".11"
  %".13" = getelementptr ptr, ptr %".1", i64 2
  %".14" = load ptr, ptr %".13"
  %".15" = trunc i64 %".4" to i32
  %".16" = trunc i64 %".8" to i32
  %".17" = trunc i64 %".4" to i32
  %".18" = sext i32 %".17" to i64
  %".19" = mul i64 %".18", 4
  %".20" = sext i32 0 to i64
  %".21" = mul i64 %".20", 32
  %".22" = mul i64 %".19", 32
  %".23" = add i64 %".22", %".21"
  %".24" = getelementptr float, ptr %".10", i64 %".23"
  %".25" = trunc i64 %".4" to i32
  %".26" = sext i32 0 to i64
  %".27" = mul i64 %".26", 32
  %".28" = getelementptr float, ptr %".12", i64 %".27"
  %".29" = trunc i64 %".4" to i32
  %".30" = sext i32 %".29" to i64
  %".31" = mul i64 %".30", 4
  %".32" = sext i32 0 to i64
  %".33" = mul i64 %".32", 32
  %".34" = mul i64 %".31", 32
  %".35" = add i64 %".34", %".33"
  %".36" = getelementptr float, ptr %".14", i64 %".35"
  %".37" = getelementptr i8, ptr %".3", i64 0
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".86", %"done.1"]
  %".41" = icmp slt i64 %"i", 4
  br i1 %".41", label %"body", label %"done"
body:
  store <16 x float> splat (float              0x0), <16 x float>* %".38"
  store <16 x float> splat (float              0x0), <16 x float>* %".39"
  br label %"loop.1"
done:
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".65", %"body.1"]
  %".46" = icmp slt i64 %"i.1", 32
  br i1 %".46", label %"body.1", label %"done.1"
body.1:
  %".48" = mul i64 %"i", 32
  %".49" = add i64 %".48", %"i.1"
  %".50" = getelementptr inbounds float, ptr %".24", i64 %".49"
  %".51" = load <16 x float>, ptr %".50", align 4
  %".52" = fmul <16 x float> %".51", %".51"
  %".53" = load <16 x float>, <16 x float>* %".38"
  %".54" = fadd <16 x float> %".53", %".52"
  store <16 x float> %".54", <16 x float>* %".38"
  %".56" = add i64 %"i.1", 16
  %".57" = mul i64 %"i", 32
  %".58" = add i64 %".57", %".56"
  %".59" = getelementptr inbounds float, ptr %".24", i64 %".58"
  %".60" = load <16 x float>, ptr %".59", align 4
  %".61" = fmul <16 x float> %".60", %".60"
  %".62" = load <16 x float>, <16 x float>* %".39"
  %".63" = fadd <16 x float> %".62", %".61"
  store <16 x float> %".63", <16 x float>* %".39"
  %".65" = add i64 %"i.1", 32
  br label %"loop.1"
done.1:
  %".67" = load <16 x float>, <16 x float>* %".38"
  %".68" = load <16 x float>, <16 x float>* %".39"
  %".69" = fadd <16 x float> %".67", %".68"
  %".70" = shufflevector <16 x float> %".69", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".71" = shufflevector <16 x float> %".69", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".72" = fadd <8 x float> %".70", %".71"
  %".73" = shufflevector <8 x float> %".72", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".74" = shufflevector <8 x float> %".72", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".75" = fadd <4 x float> %".73", %".74"
  %".76" = shufflevector <4 x float> %".75", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".77" = shufflevector <4 x float> %".75", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".78" = fadd <2 x float> %".76", %".77"
  %".79" = shufflevector <2 x float> %".78", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".80" = shufflevector <2 x float> %".78", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".81" = extractelement <1 x float> %".79", i32 0
  %".82" = extractelement <1 x float> %".80", i32 0
  %".83" = fadd float %".81", %".82"
  %".84" = getelementptr inbounds float, ptr %".37", i64 %"i"
  store float %".83", ptr %".84", align 4
  %".86" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [0, %"done"], [%".116", %"done.3"]
  %".89" = icmp slt i64 %"i.2", 4
  br i1 %".89", label %"body.2", label %"done.2"
body.2:
  %".91" = getelementptr inbounds float, ptr %".37", i64 %"i.2"
  %".92" = load float, ptr %".91", align 4
  %".93" = fmul float %".92", 0x3fa0000000000000
  %".94" = fadd float %".93", 0x3eb0c6f7a0000000
  %".95" = call float @"llvm.sqrt.f32"(float %".94")
  %".96" = fdiv float 0x3ff0000000000000, %".95"
  br label %"loop.3"
done.2:
  ret void
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".114", %"body.3"]
  %".98" = icmp slt i64 %"i.3", 32
  br i1 %".98", label %"body.3", label %"done.3"
body.3:
  %".100" = mul i64 %"i.2", 32
  %".101" = add i64 %".100", %"i.3"
  %".102" = getelementptr inbounds float, ptr %".24", i64 %".101"
  %".103" = load <16 x float>, ptr %".102", align 4
  %".104" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".96", i32 0
  %".105" = shufflevector <16 x float> %".104", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".106" = fmul <16 x float> %".103", %".105"
  %".107" = getelementptr inbounds float, ptr %".28", i64 %"i.3"
  %".108" = load <16 x float>, ptr %".107", align 4
  %".109" = fmul <16 x float> %".106", %".108"
  %".110" = mul i64 %"i.2", 32
  %".111" = add i64 %".110", %"i.3"
  %".112" = getelementptr inbounds float, ptr %".36", i64 %".111"
  store <16 x float> %".109", ptr %".112", align 4
  %".114" = add i64 %"i.3", 16
  br label %"loop.3"
done.3:
  %".116" = add i64 %"i.2", 1
  br label %"loop.2"
}
