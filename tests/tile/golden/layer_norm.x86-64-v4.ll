; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".46" = alloca <16 x float>
  %".47" = alloca <16 x float>
  %".120" = alloca <16 x float>
  %".121" = alloca <16 x float>
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
  %"i.2" = phi  i64 [0, %"done"], [%".117", %"done.3"]
  %".96" = icmp slt i64 %"i.2", 4
  br i1 %".96", label %"body.2", label %"done.2"
body.2:
  %".98" = getelementptr inbounds float, ptr %".45", i64 %"i.2"
  %".99" = load float, ptr %".98", align 4
  %".100" = fmul float %".99", 0x3fa0000000000000
  br label %"loop.3"
done.2:
  %".119" = getelementptr i8, ptr %".3", i64 576
  br label %"loop.4"
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".115", %"body.3"]
  %".102" = icmp slt i64 %"i.3", 32
  br i1 %".102", label %"body.3", label %"done.3"
body.3:
  %".104" = mul i64 %"i.2", 32
  %".105" = add i64 %".104", %"i.3"
  %".106" = getelementptr inbounds float, ptr %".28", i64 %".105"
  %".107" = load <16 x float>, ptr %".106", align 4
  %".108" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".100", i32 0
  %".109" = shufflevector <16 x float> %".108", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".110" = fsub <16 x float> %".107", %".109"
  %".111" = mul i64 %"i.2", 32
  %".112" = add i64 %".111", %"i.3"
  %".113" = getelementptr inbounds float, ptr %".94", i64 %".112"
  store <16 x float> %".110", ptr %".113", align 4
  %".115" = add i64 %"i.3", 16
  br label %"loop.3"
done.3:
  %".117" = add i64 %"i.2", 1
  br label %"loop.2"
loop.4:
  %"i.4" = phi  i64 [0, %"done.2"], [%".168", %"done.5"]
  %".123" = icmp slt i64 %"i.4", 4
  br i1 %".123", label %"body.4", label %"done.4"
body.4:
  store <16 x float> splat (float              0x0), <16 x float>* %".120"
  store <16 x float> splat (float              0x0), <16 x float>* %".121"
  br label %"loop.5"
done.4:
  br label %"loop.6"
loop.5:
  %"i.5" = phi  i64 [0, %"body.4"], [%".147", %"body.5"]
  %".128" = icmp slt i64 %"i.5", 32
  br i1 %".128", label %"body.5", label %"done.5"
body.5:
  %".130" = mul i64 %"i.4", 32
  %".131" = add i64 %".130", %"i.5"
  %".132" = getelementptr inbounds float, ptr %".94", i64 %".131"
  %".133" = load <16 x float>, ptr %".132", align 4
  %".134" = fmul <16 x float> %".133", %".133"
  %".135" = load <16 x float>, <16 x float>* %".120"
  %".136" = fadd <16 x float> %".135", %".134"
  store <16 x float> %".136", <16 x float>* %".120"
  %".138" = add i64 %"i.5", 16
  %".139" = mul i64 %"i.4", 32
  %".140" = add i64 %".139", %".138"
  %".141" = getelementptr inbounds float, ptr %".94", i64 %".140"
  %".142" = load <16 x float>, ptr %".141", align 4
  %".143" = fmul <16 x float> %".142", %".142"
  %".144" = load <16 x float>, <16 x float>* %".121"
  %".145" = fadd <16 x float> %".144", %".143"
  store <16 x float> %".145", <16 x float>* %".121"
  %".147" = add i64 %"i.5", 32
  br label %"loop.5"
done.5:
  %".149" = load <16 x float>, <16 x float>* %".120"
  %".150" = load <16 x float>, <16 x float>* %".121"
  %".151" = fadd <16 x float> %".149", %".150"
  %".152" = shufflevector <16 x float> %".151", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".153" = shufflevector <16 x float> %".151", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".154" = fadd <8 x float> %".152", %".153"
  %".155" = shufflevector <8 x float> %".154", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".156" = shufflevector <8 x float> %".154", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".157" = fadd <4 x float> %".155", %".156"
  %".158" = shufflevector <4 x float> %".157", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".159" = shufflevector <4 x float> %".157", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".160" = fadd <2 x float> %".158", %".159"
  %".161" = shufflevector <2 x float> %".160", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".162" = shufflevector <2 x float> %".160", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".163" = extractelement <1 x float> %".161", i32 0
  %".164" = extractelement <1 x float> %".162", i32 0
  %".165" = fadd float %".163", %".164"
  %".166" = getelementptr inbounds float, ptr %".119", i64 %"i.4"
  store float %".165", ptr %".166", align 4
  %".168" = add i64 %"i.4", 1
  br label %"loop.4"
loop.6:
  %"i.6" = phi  i64 [0, %"done.4"], [%".201", %"done.7"]
  %".171" = icmp slt i64 %"i.6", 4
  br i1 %".171", label %"body.6", label %"done.6"
body.6:
  %".173" = getelementptr inbounds float, ptr %".119", i64 %"i.6"
  %".174" = load float, ptr %".173", align 4
  %".175" = fmul float %".174", 0x3fa0000000000000
  %".176" = fadd float %".175", 0x3ee4f8b580000000
  %".177" = call float @"llvm.sqrt.f32"(float %".176")
  %".178" = fdiv float 0x3ff0000000000000, %".177"
  br label %"loop.7"
done.6:
  ret void
loop.7:
  %"i.7" = phi  i64 [0, %"body.6"], [%".199", %"body.7"]
  %".180" = icmp slt i64 %"i.7", 32
  br i1 %".180", label %"body.7", label %"done.7"
body.7:
  %".182" = mul i64 %"i.6", 32
  %".183" = add i64 %".182", %"i.7"
  %".184" = getelementptr inbounds float, ptr %".94", i64 %".183"
  %".185" = load <16 x float>, ptr %".184", align 4
  %".186" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".178", i32 0
  %".187" = shufflevector <16 x float> %".186", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".188" = fmul <16 x float> %".185", %".187"
  %".189" = getelementptr inbounds float, ptr %".32", i64 %"i.7"
  %".190" = load <16 x float>, ptr %".189", align 4
  %".191" = fmul <16 x float> %".188", %".190"
  %".192" = getelementptr inbounds float, ptr %".36", i64 %"i.7"
  %".193" = load <16 x float>, ptr %".192", align 4
  %".194" = fadd <16 x float> %".191", %".193"
  %".195" = mul i64 %"i.6", 32
  %".196" = add i64 %".195", %"i.7"
  %".197" = getelementptr inbounds float, ptr %".44", i64 %".196"
  store <16 x float> %".194", ptr %".197", align 4
  %".199" = add i64 %"i.7", 16
  br label %"loop.7"
done.7:
  %".201" = add i64 %"i.6", 1
  br label %"loop.6"
}
