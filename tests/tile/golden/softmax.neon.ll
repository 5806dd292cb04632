; neon
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".34" = alloca <4 x float>
  %".35" = alloca <4 x float>
  %".36" = alloca <4 x float>
  %".37" = alloca <4 x float>
  %".102" = alloca <4 x float>
  %".103" = alloca <4 x float>
  %".104" = alloca <4 x float>
  %".105" = alloca <4 x float>
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
  %"i" = phi  i64 [0, %"start"], [%".98", %"done.1"]
  %".39" = icmp slt i64 %"i", 4
  br i1 %".39", label %"body", label %"done"
body:
  store <4 x float> splat (float 0xfff0000000000000), <4 x float>* %".34"
  store <4 x float> splat (float 0xfff0000000000000), <4 x float>* %".35"
  store <4 x float> splat (float 0xfff0000000000000), <4 x float>* %".36"
  store <4 x float> splat (float 0xfff0000000000000), <4 x float>* %".37"
  br label %"loop.1"
done:
  %".100" = getelementptr i8, ptr %".3", i64 64
  %".101" = getelementptr i8, ptr %".3", i64 128
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".79", %"body.1"]
  %".46" = icmp slt i64 %"i.1", 16
  br i1 %".46", label %"body.1", label %"done.1"
body.1:
  %".48" = mul i64 %"i", 16
  %".49" = add i64 %".48", %"i.1"
  %".50" = getelementptr inbounds float, ptr %".24", i64 %".49"
  %".51" = load <4 x float>, ptr %".50", align 4
  %".52" = load <4 x float>, <4 x float>* %".34"
  %".53" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".51", <4 x float> %".52")
  store <4 x float> %".53", <4 x float>* %".34"
  %".55" = add i64 %"i.1", 4
  %".56" = mul i64 %"i", 16
  %".57" = add i64 %".56", %".55"
  %".58" = getelementptr inbounds float, ptr %".24", i64 %".57"
  %".59" = load <4 x float>, ptr %".58", align 4
  %".60" = load <4 x float>, <4 x float>* %".35"
  %".61" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".59", <4 x float> %".60")
  store <4 x float> %".61", <4 x float>* %".35"
  %".63" = add i64 %"i.1", 8
  %".64" = mul i64 %"i", 16
  %".65" = add i64 %".64", %".63"
  %".66" = getelementptr inbounds float, ptr %".24", i64 %".65"
  %".67" = load <4 x float>, ptr %".66", align 4
  %".68" = load <4 x float>, <4 x float>* %".36"
  %".69" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".67", <4 x float> %".68")
  store <4 x float> %".69", <4 x float>* %".36"
  %".71" = add i64 %"i.1", 12
  %".72" = mul i64 %"i", 16
  %".73" = add i64 %".72", %".71"
  %".74" = getelementptr inbounds float, ptr %".24", i64 %".73"
  %".75" = load <4 x float>, ptr %".74", align 4
  %".76" = load <4 x float>, <4 x float>* %".37"
  %".77" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".75", <4 x float> %".76")
  store <4 x float> %".77", <4 x float>* %".37"
  %".79" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  %".81" = load <4 x float>, <4 x float>* %".34"
  %".82" = load <4 x float>, <4 x float>* %".35"
  %".83" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".82", <4 x float> %".81")
  %".84" = load <4 x float>, <4 x float>* %".36"
  %".85" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".84", <4 x float> %".83")
  %".86" = load <4 x float>, <4 x float>* %".37"
  %".87" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".86", <4 x float> %".85")
  %".88" = shufflevector <4 x float> %".87", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".89" = shufflevector <4 x float> %".87", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".90" = call <2 x float> @"llvm.maximum.v2f32"(<2 x float> %".89", <2 x float> %".88")
  %".91" = shufflevector <2 x float> %".90", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".92" = shufflevector <2 x float> %".90", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".93" = extractelement <1 x float> %".91", i32 0
  %".94" = extractelement <1 x float> %".92", i32 0
  %".95" = call float @"llvm.maximum.f32"(float %".94", float %".93")
  %".96" = getelementptr inbounds float, ptr %".33", i64 %"i"
  store float %".95", ptr %".96", align 4
  %".98" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [0, %"done"], [%".200", %"done.3"]
  %".107" = icmp slt i64 %"i.2", 4
  br i1 %".107", label %"body.2", label %"done.2"
body.2:
  store <4 x float> splat (float              0x0), <4 x float>* %".102"
  store <4 x float> splat (float              0x0), <4 x float>* %".103"
  store <4 x float> splat (float              0x0), <4 x float>* %".104"
  store <4 x float> splat (float              0x0), <4 x float>* %".105"
  %".113" = getelementptr inbounds float, ptr %".33", i64 %"i.2"
  %".114" = load float, ptr %".113", align 4
  br label %"loop.3"
done.2:
  br label %"loop.4"
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".181", %"body.3"]
  %".116" = icmp slt i64 %"i.3", 16
  br i1 %".116", label %"body.3", label %"done.3"
body.3:
  %".118" = mul i64 %"i.2", 16
  %".119" = add i64 %".118", %"i.3"
  %".120" = getelementptr inbounds float, ptr %".24", i64 %".119"
  %".121" = load <4 x float>, ptr %".120", align 4
  %".122" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".114", i32 0
  %".123" = shufflevector <4 x float> %".122", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".124" = fsub <4 x float> %".121", %".123"
  %".125" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".124")
  %".126" = mul i64 %"i.2", 16
  %".127" = add i64 %".126", %"i.3"
  %".128" = getelementptr inbounds float, ptr %".101", i64 %".127"
  store <4 x float> %".125", ptr %".128", align 4
  %".130" = load <4 x float>, <4 x float>* %".102"
  %".131" = fadd <4 x float> %".130", %".125"
  store <4 x float> %".131", <4 x float>* %".102"
  %".133" = add i64 %"i.3", 4
  %".134" = mul i64 %"i.2", 16
  %".135" = add i64 %".134", %".133"
  %".136" = getelementptr inbounds float, ptr %".24", i64 %".135"
  %".137" = load <4 x float>, ptr %".136", align 4
  %".138" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".114", i32 0
  %".139" = shufflevector <4 x float> %".138", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".140" = fsub <4 x float> %".137", %".139"
  %".141" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".140")
  %".142" = mul i64 %"i.2", 16
  %".143" = add i64 %".142", %".133"
  %".144" = getelementptr inbounds float, ptr %".101", i64 %".143"
  store <4 x float> %".141", ptr %".144", align 4
  %".146" = load <4 x float>, <4 x float>* %".103"
  %".147" = fadd <4 x float> %".146", %".141"
  store <4 x float> %".147", <4 x float>* %".103"
  %".149" = add i64 %"i.3", 8
  %".150" = mul i64 %"i.2", 16
  %".151" = add i64 %".150", %".149"
  %".152" = getelementptr inbounds float, ptr %".24", i64 %".151"
  %".153" = load <4 x float>, ptr %".152", align 4
  %".154" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".114", i32 0
  %".155" = shufflevector <4 x float> %".154", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".156" = fsub <4 x float> %".153", %".155"
  %".157" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".156")
  %".158" = mul i64 %"i.2", 16
  %".159" = add i64 %".158", %".149"
  %".160" = getelementptr inbounds float, ptr %".101", i64 %".159"
  store <4 x float> %".157", ptr %".160", align 4
  %".162" = load <4 x float>, <4 x float>* %".104"
  %".163" = fadd <4 x float> %".162", %".157"
  store <4 x float> %".163", <4 x float>* %".104"
  %".165" = add i64 %"i.3", 12
  %".166" = mul i64 %"i.2", 16
  %".167" = add i64 %".166", %".165"
  %".168" = getelementptr inbounds float, ptr %".24", i64 %".167"
  %".169" = load <4 x float>, ptr %".168", align 4
  %".170" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".114", i32 0
  %".171" = shufflevector <4 x float> %".170", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".172" = fsub <4 x float> %".169", %".171"
  %".173" = call <4 x float> @"tilewright.exp.v4f32"(<4 x float> %".172")
  %".174" = mul i64 %"i.2", 16
  %".175" = add i64 %".174", %".165"
  %".176" = getelementptr inbounds float, ptr %".101", i64 %".175"
  store <4 x float> %".173", ptr %".176", align 4
  %".178" = load <4 x float>, <4 x float>* %".105"
  %".179" = fadd <4 x float> %".178", %".173"
  store <4 x float> %".179", <4 x float>* %".105"
  %".181" = add i64 %"i.3", 16
  br label %"loop.3"
done.3:
  %".183" = load <4 x float>, <4 x float>* %".102"
  %".184" = load <4 x float>, <4 x float>* %".103"
  %".185" = fadd <4 x float> %".183", %".184"
  %".186" = load <4 x float>, <4 x float>* %".104"
  %".187" = fadd <4 x float> %".185", %".186"
  %".188" = load <4 x float>, <4 x float>* %".105"
  %".189" = fadd <4 x float> %".187", %".188"
  %".190" = shufflevector <4 x float> %".189", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".191" = shufflevector <4 x float> %".189", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".192" = fadd <2 x float> %".190", %".191"
  %".193" = shufflevector <2 x float> %".192", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".194" = shufflevector <2 x float> %".192", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".195" = extractelement <1 x float> %".193", i32 0
  %".196" = extractelement <1 x float> %".194", i32 0
  %".197" = fadd float %".195", %".196"
  %".198" = getelementptr inbounds float, ptr %".100", i64 %"i.2"
  store float %".197", ptr %".198", align 4
  %".200" = add i64 %"i.2", 1
  br label %"loop.2"
loop.4:
  %"i.4" = phi  i64 [0, %"done.2"], [%".223", %"done.5"]
  %".203" = icmp slt i64 %"i.4", 4
  br i1 %".203", label %"body.4", label %"done.4"
body.4:
  %".205" = getelementptr inbounds float, ptr %".100", i64 %"i.4"
  %".206" = load float, ptr %".205", align 4
  br label %"loop.5"
done.4:
  ret void
loop.5:
  %"i.5" = phi  i64 [0, %"body.4"], [%".221", %"body.5"]
  %".208" = icmp slt i64 %"i.5", 16
  br i1 %".208", label %"body.5", label %"done.5"
body.5:
  %".210" = mul i64 %"i.4", 16
  %".211" = add i64 %".210", %"i.5"
  %".212" = getelementptr inbounds float, ptr %".101", i64 %".211"
  %".213" = load <4 x float>, ptr %".212", align 4
  %".214" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".206", i32 0
  %".215" = shufflevector <4 x float> %".214", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".216" = fdiv <4 x float> %".213", %".215"
  %".217" = mul i64 %"i.4", 16
  %".218" = add i64 %".217", %"i.5"
  %".219" = getelementptr inbounds float, ptr %".32", i64 %".218"
  store <4 x float> %".216", ptr %".219", align 4
  %".221" = add i64 %"i.5", 4
  br label %"loop.5"
done.5:
  %".223" = add i64 %"i.4", 1
  br label %"loop.4"
}
