; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".46" = alloca <16 x float>
  %".47" = alloca <16 x float>
  %".95" = alloca <16 x float>
  %".96" = alloca <16 x float>
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
  %".17" = getelementptr ptr, ptr %".1", i64 3
  %".18" = load ptr, ptr %".17"
  %".19" = trunc i64 %".9" to i32
  %".20" = trunc i64 %".8" to i32
  %".21" = trunc i64 %".9" to i32
  %".22" = sext i32 %".21" to i64
  %".23" = mul i64 %".22", 4
  %".24" = sext i32 0 to i64
  %".25" = mul i64 %".24", 32
  %".26" = mul i64 %".23", 32
  %".27" = add i64 %".26", %".25"
  %".28" = getelementptr float, ptr %".12", i64 %".27"
  %".29" = trunc i64 %".9" to i32
  %".30" = sext i32 0 to i64
  %".31" = mul i64 %".30", 32
  %".32" = getelementptr float, ptr %".14", i64 %".31"
  %".33" = trunc i64 %".9" to i32
  %".34" = sext i32 0 to i64
  %".35" = mul i64 %".34", 32
  %".36" = getelementptr float, ptr %".16", i64 %".35"
  %".37" = trunc i64 %".9" to i32
  %".38" = sext i32 %".37" to i64
  %".39" = mul i64 %".38", 4
  %".40" = sext i32 0 to i64
  %".41" = mul i64 %".40", 32
  %".42" = mul i64 %".39", 32
  %".43" = add i64 %".42", %".41"
  %".44" = getelementptr float, ptr %".18", i64 %".43"
  %".45" = getelementptr i8, ptr %".3", i64 0
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".92", %"done.1"]
  %".49" = icmp slt i64 %"i", 4
  br i1 %".49", label %"body", label %"done"
body:
  store <16 x float> splat (float              0x0), <16 x float>* %".46"
  store <16 x float> splat (float              0x0), <16 x float>* %".47"
  br label %"loop.1"
done:
  %".94" = getelementptr i8, ptr %".3", i64 64
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".71", %"body.1"]
  %".54" = icmp slt i64 %"i.1", 32
  br i1 %".54", label %"body.1", label %"done.1"
body.1:
  %".56" = mul i64 %"i", 32
  %".57" = add i64 %".56", %"i.1"
  %".58" = getelementptr inbounds float, ptr %".28", i64 %".57"
  %".59" = load <16 x float>, ptr %".58", align 4
  %".60" = load <16 x float>, <16 x float>* %".46"
  %".61" = fadd <16 x float> %".60", %".59"
  store <16 x float> %".61", <16 x float>* %".46"
  %".63" = add i64 %"i.1", 16
  %".64" = mul i64 %"i", 32
  %".65" = add i64 %".64", %".63"
  %".66" = getelementptr inbounds float, ptr %".28", i64 %".65"
  %".67" = load <16 x float>, ptr %".66", align 4
  %".68" = load <16 x float>, <16 x float>* %".47"
  %".69" = fadd <16 x float> %".68", %".67"
  store <16 x float> %".69", <16 x float>* %".47"
  %".71" = add i64 %"i.1", 32
  br label %"loop.1"
done.1:
  %".73" = load <16 x float>, <16 x float>* %".46"
  %".74" = load <16 x float>, <16 x float>* %".47"
  %".75" = fadd <16 x float> %".73", %".74"
  %".76" = shufflevector <16 x float> %".75", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".77" = shufflevector <16 x float> %".75", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".78" = fadd <8 x float> %".76", %".77"
  %".79" = shufflevector <8 x float> %".78", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".80" = shufflevector <8 x float> %".78", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".81" = fadd <4 x float> %".79", %".80"
  %".82" = shufflevector <4 x float> %".81", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".83" = shufflevector <4 x float> %".81", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".84" = fadd <2 x float> %".82", %".83"
  %".85" = shufflevector <2 x float> %".84", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".86" = shufflevector <2 x float> %".84", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".87" = extractelement <1 x float> %".85", i32 0
  %".88" = extractelement <1 x float> %".86", i32 0
  %".89" = fadd float %".87", %".88"
  %".90" = getelementptr inbounds float, ptr %".45", i64 %"i"
  store float %".89", ptr %".90", align 4
  %".92" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [0, %"done"], [%".152", %"done.3"]
  %".98" = icmp slt i64 %"i.2", 4
  br i1 %".98", label %"body.2", label %"done.2"
body.2:
  store <16 x float> splat (float              0x0), <16 x float>* %".95"
  store <16 x float> splat (float              0x0), <16 x float>* %".96"
  %".102" = getelementptr inbounds float, ptr %".45", i64 %"i.2"
  %".103" = load float, ptr %".102", align 4
  %".104" = fmul float %".103", 0x3fa0000000000000
  br label %"loop.3"
done.2:
  br label %"loop.4"
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".131", %"body.3"]
  %".106" = icmp slt i64 %"i.3", 32
  br i1 %".106", label %"body.3", label %"done.3"
body.3:
  %".108" = mul i64 %"i.2", 32
  %".109" = add i64 %".108", %"i.3"
  %".110" = getelementptr inbounds float, ptr %".28", i64 %".109"
  %".111" = load <16 x float>, ptr %".110", align 4
  %".112" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".104", i32 0
  %".113" = shufflevector <16 x float> %".112", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".114" = fsub <16 x float> %".111", %".113"
  %".115" = fmul <16 x float> %".114", %".114"
  %".116" = load <16 x float>, <16 x float>* %".95"
  %".117" = fadd <16 x float> %".116", %".115"
  store <16 x float> %".117", <16 x float>* %".95"
  %".119" = add i64 %"i.3", 16
  %".120" = mul i64 %"i.2", 32
  %".121" = add i64 %".120", %".119"
  %".122" = getelementptr inbounds float, ptr %".28", i64 %".121"
  %".123" = load <16 x float>, ptr %".122", align 4
  %".124" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".104", i32 0
  %".125" = shufflevector <16 x float> %".124", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".126" = fsub <16 x float> %".123", %".125"
  %".127" = fmul <16 x float> %".126", %".126"
  %".128" = load <16 x float>, <16 x float>* %".96"
  %".129" = fadd <16 x float> %".128", %".127"
  store <16 x float> %".129", <16 x float>* %".96"
  %".131" = add i64 %"i.3", 32
  br label %"loop.3"
done.3:
  %".133" = load <16 x float>, <16 x float>* %".95"
  %".134" = load <16 x float>, <16 x float>* %".96"
  %".135" = fadd <16 x float> %".133", %".134"
  %".136" = shufflevector <16 x float> %".135", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".137" = shufflevector <16 x float> %".135", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".138" = fadd <8 x float> %".136", %".137"
  %".139" = shufflevector <8 x float> %".138", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".140" = shufflevector <8 x float> %".138", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".141" = fadd <4 x float> %".139", %".140"
  %".142" = shufflevector <4 x float> %".141", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".143" = shufflevector <4 x float> %".141", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".144" = fadd <2 x float> %".142", %".143"
  %".145" = shufflevector <2 x float> %".144", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".146" = shufflevector <2 x float> %".144", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".147" = extractelement <1 x float> %".145", i32 0
  %".148" = extractelement <1 x float> %".146", i32 0
  %".149" = fadd float %".147", %".148"
  %".150" = getelementptr inbounds float, ptr %".94", i64 %"i.2"
  store float %".149", ptr %".150", align 4
  %".152" = add i64 %"i.2", 1
  br label %"loop.2"
loop.4:
  %"i.4" = phi  i64 [0, %"done.2"], [%".191", %"done.5"]
  %".155" = icmp slt i64 %"i.4", 4
  br i1 %".155", label %"body.4", label %"done.4"
body.4:
  %".157" = getelementptr inbounds float, ptr %".45", i64 %"i.4"
  %".158" = load float, ptr %".157", align 4
  %".159" = fmul float %".158", 0x3fa0000000000000
  %".160" = getelementptr inbounds float, ptr %".94", i64 %"i.4"
  %".161" = load float, ptr %".160", align 4
  %".162" = fmul float %".161", 0x3fa0000000000000
  %".163" = fadd float %".162", 0x3ee4f8b580000000
  %".164" = call float @"llvm.sqrt.f32"(float %".163")
  %".165" = fdiv float 0x3ff0000000000000, %".164"
  br label %"loop.5"
done.4:
  ret void
loop.5:
  %"i.5" = phi  i64 [0, %"body.4"], [%".189", %"body.5"]
  %".167" = icmp slt i64 %"i.5", 32
  br i1 %".167", label %"body.5", label %"done.5"
body.5:
  %".169" = mul i64 %"i.4", 32
  %".170" = add i64 %".169", %"i.5"
  %".171" = getelementptr inbounds float, ptr %".28", i64 %".170"
  %".172" = load <16 x float>, ptr %".171", align 4
  %".173" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".159", i32 0
  %".174" = shufflevector <16 x float> %".173", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".175" = fsub <16 x float> %".172", %".174"
  %".176" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".165", i32 0
  %".177" = shufflevector <16 x float> %".176", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".178" = fmul <16 x float> %".175", %".177"
  %".179" = getelementptr inbounds float, ptr %".32", i64 %"i.5"
  %".180" = load <16 x float>, ptr %".179", align 4
  %".181" = fmul <16 x float> %".178", %".180"
  %".182" = getelementptr inbounds float, ptr %".36", i64 %"i.5"
  %".183" = load <16 x float>, ptr %".182", align 4
  %".184" = fadd <16 x float> %".181", %".183"
  %".185" = mul i64 %"i.4", 32
  %".186" = add i64 %".185", %"i.5"
  %".187" = getelementptr inbounds float, ptr %".44", i64 %".186"
  store <16 x float> %".184", ptr %".187", align 4
  %".189" = add i64 %"i.5", 16
  br label %"loop.5"
done.5:
  %".191" = add i64 %"i.4", 1
  br label %"loop.4"
}
