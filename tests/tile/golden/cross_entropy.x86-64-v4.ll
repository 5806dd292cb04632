; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".65" = alloca <16 x float>
  %".66" = alloca <16 x float>
  %".114" = alloca <16 x float>
  %".115" = alloca <16 x float>
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
  %".30" = sext i32 %".29" to i64
  %".31" = mul i64 %".30", 4
  %".32" = getelementptr i32, ptr %".14", i64 %".31"
  %".33" = trunc i64 %".9" to i32
  %".34" = sext i32 %".33" to i64
  %".35" = mul i64 %".34", 4
  %".36" = getelementptr float, ptr %".16", i64 %".35"
  %".37" = trunc i64 %".9" to i32
  %".38" = sext i32 %".37" to i64
  %".39" = mul i64 %".38", 4
  %".40" = getelementptr float, ptr %".18", i64 %".39"
  %".41" = getelementptr i8, ptr %".3", i64 0
  %".42" = getelementptr inbounds i32, ptr %".32", i64 0
  %".43" = load <4 x i32>, ptr %".42", align 4
  %".44" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 0, i32 0
  %".45" = shufflevector <4 x i32> %".44", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".46" = call <4 x i32> @"llvm.smax.v4i32"(<4 x i32> %".43", <4 x i32> %".45")
  %".47" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 31, i32 0
  %".48" = shufflevector <4 x i32> %".47", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".49" = call <4 x i32> @"llvm.smin.v4i32"(<4 x i32> %".46", <4 x i32> %".48")
  %".50" = icmp slt <4 x i32> %".49", %".45"
  %".51" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 32, i32 0
  %".52" = shufflevector <4 x i32> %".51", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".53" = add <4 x i32> %".49", %".52"
  %".54" = select  <4 x i1> %".50", <4 x i32> %".53", <4 x i32> %".49"
  %".55" = getelementptr inbounds i32, ptr %".41", i64 0
  store <4 x i32> %".54", ptr %".55", align 4
  %".57" = getelementptr i8, ptr %".3", i64 64
  %".58" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 0, i32 0
  %".59" = shufflevector <4 x i64> %".58", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".60" = add <4 x i64> %".59", <i64 0, i64 1, i64 2, i64 3>
  %".61" = trunc <4 x i64> %".60" to <4 x i32>
  %".62" = getelementptr inbounds i32, ptr %".57", i64 0
  store <4 x i32> %".61", ptr %".62", align 4
  %".64" = getelementptr i8, ptr %".3", i64 128
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".111", %"done.1"]
  %".68" = icmp slt i64 %"i", 4
  br i1 %".68", label %"body", label %"done"
body:
  store <16 x float> splat (float 0xfff0000000000000), <16 x float>* %".65"
  store <16 x float> splat (float 0xfff0000000000000), <16 x float>* %".66"
  br label %"loop.1"
done:
  %".113" = getelementptr i8, ptr %".3", i64 192
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".90", %"body.1"]
  %".73" = icmp slt i64 %"i.1", 32
  br i1 %".73", label %"body.1", label %"done.1"
body.1:
  %".75" = mul i64 %"i", 32
  %".76" = add i64 %".75", %"i.1"
  %".77" = getelementptr inbounds float, ptr %".28", i64 %".76"
  %".78" = load <16 x float>, ptr %".77", align 4
  %".79" = load <16 x float>, <16 x float>* %".65"
  %".80" = call <16 x float> @"llvm.maximum.v16f32"(<16 x float> %".78", <16 x float> %".79")
  store <16 x float> %".80", <16 x float>* %".65"
  %".82" = add i64 %"i.1", 16
  %".83" = mul i64 %"i", 32
  %".84" = add i64 %".83", %".82"
  %".85" = getelementptr inbounds float, ptr %".28", i64 %".84"
  %".86" = load <16 x float>, ptr %".85", align 4
  %".87" = load <16 x float>, <16 x float>* %".66"
  %".88" = call <16 x float> @"llvm.maximum.v16f32"(<16 x float> %".86", <16 x float> %".87")
  store <16 x float> %".88", <16 x float>* %".66"
  %".90" = add i64 %"i.1", 32
  br label %"loop.1"
done.1:
  %".92" = load <16 x float>, <16 x float>* %".65"
  %".93" = load <16 x float>, <16 x float>* %".66"
  %".94" = call <16 x float> @"llvm.maximum.v16f32"(<16 x float> %".93", <16 x float> %".92")
  %".95" = shufflevector <16 x float> %".94", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".96" = shufflevector <16 x float> %".94", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".97" = call <8 x float> @"llvm.maximum.v8f32"(<8 x float> %".96", <8 x float> %".95")
  %".98" = shufflevector <8 x float> %".97", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".99" = shufflevector <8 x float> %".97", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".100" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".99", <4 x float> %".98")
  %".101" = shufflevector <4 x float> %".100", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".102" = shufflevector <4 x float> %".100", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".103" = call <2 x float> @"llvm.maximum.v2f32"(<2 x float> %".102", <2 x float> %".101")
  %".104" = shufflevector <2 x float> %".103", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".105" = shufflevector <2 x float> %".103", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".106" = extractelement <1 x float> %".104", i32 0
  %".107" = extractelement <1 x float> %".105", i32 0
  %".108" = call float @"llvm.maximum.f32"(float %".107", float %".106")
  %".109" = getelementptr inbounds float, ptr %".64", i64 %"i"
  store float %".108", ptr %".109", align 4
  %".111" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [0, %"done"], [%".170", %"done.3"]
  %".117" = icmp slt i64 %"i.2", 4
  br i1 %".117", label %"body.2", label %"done.2"
body.2:
  store <16 x float> splat (float              0x0), <16 x float>* %".114"
  store <16 x float> splat (float              0x0), <16 x float>* %".115"
  %".121" = getelementptr inbounds float, ptr %".64", i64 %"i.2"
  %".122" = load float, ptr %".121", align 4
  br label %"loop.3"
done.2:
  %".172" = getelementptr i8, ptr %".3", i64 256
  %".173" = getelementptr inbounds float, ptr %".64", i64 0
  %".174" = load <4 x float>, ptr %".173", align 4
  %".175" = getelementptr inbounds float, ptr %".113", i64 0
  %".176" = load <4 x float>, ptr %".175", align 4
  %".177" = call <4 x float> @"tilewright.log.v4f32"(<4 x float> %".176")
  %".178" = fadd <4 x float> %".174", %".177"
  %".179" = getelementptr inbounds float, ptr %".172", i64 0
  store <4 x float> %".178", ptr %".179", align 4
  %".181" = getelementptr inbounds i32, ptr %".32", i64 0
  %".182" = load <4 x i32>, ptr %".181", align 4
  %".183" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 0, i32 0
  %".184" = shufflevector <4 x i32> %".183", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".185" = icmp sge <4 x i32> %".182", %".184"
  %".186" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 32, i32 0
  %".187" = shufflevector <4 x i32> %".186", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".188" = icmp slt <4 x i32> %".182", %".187"
  %".189" = and <4 x i1> %".185", %".188"
  %".190" = getelementptr inbounds float, ptr %".172", i64 0
  %".191" = load <4 x float>, ptr %".190", align 4
  %".192" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x7ff8000000000000, i32 0
  %".193" = shufflevector <4 x float> %".192", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".194" = getelementptr inbounds i32, ptr %".41", i64 0
  %".195" = load <4 x i32>, ptr %".194", align 4
  %".196" = sext <4 x i32> %".195" to <4 x i64>
  %".197" = getelementptr inbounds i32, ptr %".57", i64 0
  %".198" = load <4 x i32>, ptr %".197", align 4
  %".199" = sext <4 x i32> %".198" to <4 x i64>
  %".200" = icmp ule <4 x i64> %".199", splat (i64 3)
  %".201" = icmp ule <4 x i64> %".196", splat (i64 31)
  %".202" = and <4 x i1> %".200", %".201"
  %".203" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 32, i32 0
  %".204" = shufflevector <4 x i64> %".203", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".205" = mul <4 x i64> %".199", %".204"
  %".206" = add <4 x i64> splat (i64 0), %".205"
  %".207" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 1, i32 0
  %".208" = shufflevector <4 x i64> %".207", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".209" = mul <4 x i64> %".196", %".208"
  %".210" = add <4 x i64> %".206", %".209"
  %".211" = ptrtoint ptr %".28" to i64
  %".212" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 %".211", i32 0
  %".213" = shufflevector <4 x i64> %".212", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".214" = mul <4 x i64> %".210", splat (i64 4)
  %".215" = add <4 x i64> %".213", %".214"
  %".216" = inttoptr <4 x i64> %".215" to <4 x ptr>
  %".217" = call <4 x float> @"llvm.masked.gather.v4f32.v4p0"(<4 x ptr> %".216", i32 4, <4 x i1> %".202", <4 x float> %".193")
  %".218" = fsub <4 x float> %".191", %".217"
  %".219" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".220" = shufflevector <4 x float> %".219", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".221" = select  <4 x i1> %".189", <4 x float> %".218", <4 x float> %".220"
  %".222" = getelementptr inbounds float, ptr %".36", i64 0
  store <4 x float> %".221", ptr %".222", align 4
  %".224" = getelementptr inbounds float, ptr %".172", i64 0
  %".225" = load <4 x float>, ptr %".224", align 4
  %".226" = getelementptr inbounds float, ptr %".40", i64 0
  store <4 x float> %".225", ptr %".226", align 4
  ret void
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".149", %"body.3"]
  %".124" = icmp slt i64 %"i.3", 32
  br i1 %".124", label %"body.3", label %"done.3"
body.3:
  %".126" = mul i64 %"i.2", 32
  %".127" = add i64 %".126", %"i.3"
  %".128" = getelementptr inbounds float, ptr %".28", i64 %".127"
  %".129" = load <16 x float>, ptr %".128", align 4
  %".130" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".122", i32 0
  %".131" = shufflevector <16 x float> %".130", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".132" = fsub <16 x float> %".129", %".131"
  %".133" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".132")
  %".134" = load <16 x float>, <16 x float>* %".114"
  %".135" = fadd <16 x float> %".134", %".133"
  store <16 x float> %".135", <16 x float>* %".114"
  %".137" = add i64 %"i.3", 16
  %".138" = mul i64 %"i.2", 32
  %".139" = add i64 %".138", %".137"
  %".140" = getelementptr inbounds float, ptr %".28", i64 %".139"
  %".141" = load <16 x float>, ptr %".140", align 4
  %".142" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".122", i32 0
  %".143" = shufflevector <16 x float> %".142", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".144" = fsub <16 x float> %".141", %".143"
  %".145" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".144")
  %".146" = load <16 x float>, <16 x float>* %".115"
  %".147" = fadd <16 x float> %".146", %".145"
  store <16 x float> %".147", <16 x float>* %".115"
  %".149" = add i64 %"i.3", 32
  br label %"loop.3"
done.3:
  %".151" = load <16 x float>, <16 x float>* %".114"
  %".152" = load <16 x float>, <16 x float>* %".115"
  %".153" = fadd <16 x float> %".151", %".152"
  %".154" = shufflevector <16 x float> %".153", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".155" = shufflevector <16 x float> %".153", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".156" = fadd <8 x float> %".154", %".155"
  %".157" = shufflevector <8 x float> %".156", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".158" = shufflevector <8 x float> %".156", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".159" = fadd <4 x float> %".157", %".158"
  %".160" = shufflevector <4 x float> %".159", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".161" = shufflevector <4 x float> %".159", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".162" = fadd <2 x float> %".160", %".161"
  %".163" = shufflevector <2 x float> %".162", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".164" = shufflevector <2 x float> %".162", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".165" = extractelement <1 x float> %".163", i32 0
  %".166" = extractelement <1 x float> %".164", i32 0
  %".167" = fadd float %".165", %".166"
  %".168" = getelementptr inbounds float, ptr %".113", i64 %"i.2"
  store float %".167", ptr %".168", align 4
  %".170" = add i64 %"i.2", 1
  br label %"loop.2"
}
