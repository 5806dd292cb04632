; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".44" = alloca <16 x float>
  %".45" = alloca <16 x float>
  %".93" = alloca <16 x float>
  %".94" = alloca <16 x float>
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
  %".15" = getelementptr ptr, ptr %".1", i64 3
  %".16" = load ptr, ptr %".15"
  %".17" = trunc i64 %".4" to i32
  %".18" = trunc i64 %".8" to i32
  %".19" = trunc i64 %".4" to i32
  %".20" = sext i32 %".19" to i64
  %".21" = mul i64 %".20", 4
  %".22" = sext i32 0 to i64
  %".23" = mul i64 %".22", 32
  %".24" = mul i64 %".21", 32
  %".25" = add i64 %".24", %".23"
  %".26" = getelementptr float, ptr %".10", i64 %".25"
  %".27" = trunc i64 %".4" to i32
  %".28" = sext i32 0 to i64
  %".29" = mul i64 %".28", 32
  %".30" = getelementptr float, ptr %".12", i64 %".29"
  %".31" = trunc i64 %".4" to i32
  %".32" = sext i32 0 to i64
  %".33" = mul i64 %".32", 32
  %".34" = getelementptr float, ptr %".14", i64 %".33"
  %".35" = trunc i64 %".4" to i32
  %".36" = sext i32 %".35" to i64
  %".37" = mul i64 %".36", 4
  %".38" = sext i32 0 to i64
  %".39" = mul i64 %".38", 32
  %".40" = mul i64 %".37", 32
  %".41" = add i64 %".40", %".39"
  %".42" = getelementptr float, ptr %".16", i64 %".41"
  %".43" = getelementptr i8, ptr %".3", i64 0
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".90", %"done.1"]
  %".47" = icmp slt i64 %"i", 4
  br i1 %".47", label %"body", label %"done"
body:
  store <16 x float> splat (float              0x0), <16 x float>* %".44"
  store <16 x float> splat (float              0x0), <16 x float>* %".45"
  br label %"loop.1"
done:
  %".92" = getelementptr i8, ptr %".3", i64 64
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".69", %"body.1"]
  %".52" = icmp slt i64 %"i.1", 32
  br i1 %".52", label %"body.1", label %"done.1"
body.1:
  %".54" = mul i64 %"i", 32
  %".55" = add i64 %".54", %"i.1"
  %".56" = getelementptr inbounds float, ptr %".26", i64 %".55"
  %".57" = load <16 x float>, ptr %".56", align 4
  %".58" = load <16 x float>, <16 x float>* %".44"
  %".59" = fadd <16 x float> %".58", %".57"
  store <16 x float> %".59", <16 x float>* %".44"
  %".61" = add i64 %"i.1", 16
  %".62" = mul i64 %"i", 32
  %".63" = add i64 %".62", %".61"
  %".64" = getelementptr inbounds float, ptr %".26", i64 %".63"
  %".65" = load <16 x float>, ptr %".64", align 4
  %".66" = load <16 x float>, <16 x float>* %".45"
  %".67" = fadd <16 x float> %".66", %".65"
  store <16 x float> %".67", <16 x float>* %".45"
  %".69" = add i64 %"i.1", 32
  br label %"loop.1"
done.1:
  %".71" = load <16 x float>, <16 x float>* %".44"
  %".72" = load <16 x float>, <16 x float>* %".45"
  %".73" = fadd <16 x float> %".71", %".72"
  %".74" = shufflevector <16 x float> %".73", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".75" = shufflevector <16 x float> %".73", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".76" = fadd <8 x float> %".74", %".75"
  %".77" = shufflevector <8 x float> %".76", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".78" = shufflevector <8 x float> %".76", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".79" = fadd <4 x float> %".77", %".78"
  %".80" = shufflevector <4 x float> %".79", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".81" = shufflevector <4 x float> %".79", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".82" = fadd <2 x float> %".80", %".81"
  %".83" = shufflevector <2 x float> %".82", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".84" = shufflevector <2 x float> %".82", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".85" = extractelement <1 x float> %".83", i32 0
  %".86" = extractelement <1 x float> %".84", i32 0
  %".87" = fadd float %".85", %".86"
  %".88" = getelementptr inbounds float, ptr %".43", i64 %"i"
  store float %".87", ptr %".88", align 4
  %".90" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [0, %"done"], [%".150", %"done.3"]
  %".96" = icmp slt i64 %"i.2", 4
  br i1 %".96", label %"body.2", label %"done.2"
body.2:
  store <16 x float> splat (float              0x0), <16 x float>* %".93"
  store <16 x float> splat (float              0x0), <16 x float>* %".94"
  %".100" = getelementptr inbounds float, ptr %".43", i64 %"i.2"
  %".101" = load float, ptr %".100", align 4
  %".102" = fmul float %".101", 0x3fa0000000000000
  br label %"loop.3"
done.2:
  br label %"loop.4"
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".129", %"body.3"]
  %".104" = icmp slt i64 %"i.3", 32
  br i1 %".104", label %"body.3", label %"done.3"
body.3:
  %".106" = mul i64 %"i.2", 32
  %".107" = add i64 %".106", %"i.3"
  %".108" = getelementptr inbounds float, ptr %".26", i64 %".107"
  %".109" = load <16 x float>, ptr %".108", align 4
  %".110" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".102", i32 0
  %".111" = shufflevector <16 x float> %".110", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".112" = fsub <16 x float> %".109", %".111"
  %".113" = fmul <16 x float> %".112", %".112"
  %".114" = load <16 x float>, <16 x float>* %".93"
  %".115" = fadd <16 x float> %".114", %".113"
  store <16 x float> %".115", <16 x float>* %".93"
  %".117" = add i64 %"i.3", 16
  %".118" = mul i64 %"i.2", 32
  %".119" = add i64 %".118", %".117"
  %".120" = getelementptr inbounds float, ptr %".26", i64 %".119"
  %".121" = load <16 x float>, ptr %".120", align 4
  %".122" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".102", i32 0
  %".123" = shufflevector <16 x float> %".122", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".124" = fsub <16 x float> %".121", %".123"
  %".125" = fmul <16 x float> %".124", %".124"
  %".126" = load <16 x float>, <16 x float>* %".94"
  %".127" = fadd <16 x float> %".126", %".125"
  store <16 x float> %".127", <16 x float>* %".94"
  %".129" = add i64 %"i.3", 32
  br label %"loop.3"
done.3:
  %".131" = load <16 x float>, <16 x float>* %".93"
  %".132" = load <16 x float>, <16 x float>* %".94"
  %".133" = fadd <16 x float> %".131", %".132"
  %".134" = shufflevector <16 x float> %".133", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".135" = shufflevector <16 x float> %".133", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".136" = fadd <8 x float> %".134", %".135"
  %".137" = shufflevector <8 x float> %".136", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".138" = shufflevector <8 x float> %".136", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".139" = fadd <4 x float> %".137", %".138"
  %".140" = shufflevector <4 x float> %".139", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".141" = shufflevector <4 x float> %".139", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".142" = fadd <2 x float> %".140", %".141"
  %".143" = shufflevector <2 x float> %".142", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".144" = shufflevector <2 x float> %".142", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".145" = extractelement <1 x float> %".143", i32 0
  %".146" = extractelement <1 x float> %".144", i32 0
  %".147" = fadd float %".145", %".146"
  %".148" = getelementptr inbounds float, ptr %".92", i64 %"i.2"
  store float %".147", ptr %".148", align 4
  %".150" = add i64 %"i.2", 1
  br label %"loop.2"
loop.4:
  %"i.4" = phi  i64 [0, %"done.2"], [%".189", %"done.5"]
  %".153" = icmp slt i64 %"i.4", 4
  br i1 %".153", label %"body.4", label %"done.4"
body.4:
  %".155" = getelementptr inbounds float, ptr %".43", i64 %"i.4"
  %".156" = load float, ptr %".155", align 4
  %".157" = fmul float %".156", 0x3fa0000000000000
  %".158" = getelementptr inbounds float, ptr %".92", i64 %"i.4"
  %".159" = load float, ptr %".158", align 4
  %".160" = fmul float %".159", 0x3fa0000000000000
  %".161" = fadd float %".160", 0x3ee4f8b580000000
  %".162" = call float @"llvm.sqrt.f32"(float %".161")
  %".163" = fdiv float 0x3ff0000000000000, %".162"
  br label %"loop.5"
done.4:
  ret void
loop.5:
  %"i.5" = phi  i64 [0, %"body.4"], [%".187", %"body.5"]
  %".165" = icmp slt i64 %"i.5", 32
  br i1 %".165", label %"body.5", label %"done.5"
body.5:
  %".167" = mul i64 %"i.4", 32
  %".168" = add i64 %".167", %"i.5"
  %".169" = getelementptr inbounds float, ptr %".26", i64 %".168"
  %".170" = load <16 x float>, ptr %".169", align 4
  %".171" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".157", i32 0
  %".172" = shufflevector <16 x float> %".171", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".173" = fsub <16 x float> %".170", %".172"
  %".174" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".163", i32 0
  %".175" = shufflevector <16 x float> %".174", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".176" = fmul <16 x float> %".173", %".175"
  %".177" = getelementptr inbounds float, ptr %".30", i64 %"i.5"
  %".178" = load <16 x float>, ptr %".177", align 4
  %".179" = fmul <16 x float> %".176", %".178"
  %".180" = getelementptr inbounds float, ptr %".34", i64 %"i.5"
  %".181" = load <16 x float>, ptr %".180", align 4
  %".182" = fadd <16 x float> %".179", %".181"
  %".183" = mul i64 %"i.4", 32
  %".184" = add i64 %".183", %"i.5"
  %".185" = getelementptr inbounds float, ptr %".42", i64 %".184"
  store <16 x float> %".182", ptr %".185", align 4
  %".187" = add i64 %"i.5", 16
  br label %"loop.5"
done.5:
  %".189" = add i64 %"i.4", 1
  br label %"loop.4"
}
