; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".63" = alloca <16 x float>
  %".64" = alloca <16 x float>
  %".112" = alloca <16 x float>
  %".113" = alloca <16 x float>
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
  %".28" = sext i32 %".27" to i64
  %".29" = mul i64 %".28", 4
  %".30" = getelementptr i32, ptr %".12", i64 %".29"
  %".31" = trunc i64 %".4" to i32
  %".32" = sext i32 %".31" to i64
  %".33" = mul i64 %".32", 4
  %".34" = getelementptr float, ptr %".14", i64 %".33"
  %".35" = trunc i64 %".4" to i32
  %".36" = sext i32 %".35" to i64
  %".37" = mul i64 %".36", 4
  %".38" = getelementptr float, ptr %".16", i64 %".37"
  %".39" = getelementptr i8, ptr %".3", i64 0
  %".40" = getelementptr inbounds i32, ptr %".30", i64 0
  %".41" = load <4 x i32>, ptr %".40", align 4
  %".42" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 0, i32 0
  %".43" = shufflevector <4 x i32> %".42", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".44" = call <4 x i32> @"llvm.smax.v4i32"(<4 x i32> %".41", <4 x i32> %".43")
  %".45" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 31, i32 0
  %".46" = shufflevector <4 x i32> %".45", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".47" = call <4 x i32> @"llvm.smin.v4i32"(<4 x i32> %".44", <4 x i32> %".46")
  %".48" = icmp slt <4 x i32> %".47", %".43"
  %".49" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 32, i32 0
  %".50" = shufflevector <4 x i32> %".49", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".51" = add <4 x i32> %".47", %".50"
  %".52" = select  <4 x i1> %".48", <4 x i32> %".51", <4 x i32> %".47"
  %".53" = getelementptr inbounds i32, ptr %".39", i64 0
  store <4 x i32> %".52", ptr %".53", align 4
  %".55" = getelementptr i8, ptr %".3", i64 64
  %".56" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 0, i32 0
  %".57" = shufflevector <4 x i64> %".56", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".58" = add <4 x i64> %".57", <i64 0, i64 1, i64 2, i64 3>
  %".59" = trunc <4 x i64> %".58" to <4 x i32>
  %".60" = getelementptr inbounds i32, ptr %".55", i64 0
  store <4 x i32> %".59", ptr %".60", align 4
  %".62" = getelementptr i8, ptr %".3", i64 128
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".109", %"done.1"]
  %".66" = icmp slt i64 %"i", 4
  br i1 %".66", label %"body", label %"done"
body:
  store <16 x float> splat (float 0xfff0000000000000), <16 x float>* %".63"
  store <16 x float> splat (float 0xfff0000000000000), <16 x float>* %".64"
  br label %"loop.1"
done:
  %".111" = getelementptr i8, ptr %".3", i64 192
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".88", %"body.1"]
  %".71" = icmp slt i64 %"i.1", 32
  br i1 %".71", label %"body.1", label %"done.1"
body.1:
  %".73" = mul i64 %"i", 32
  %".74" = add i64 %".73", %"i.1"
  %".75" = getelementptr inbounds float, ptr %".26", i64 %".74"
  %".76" = load <16 x float>, ptr %".75", align 4
  %".77" = load <16 x float>, <16 x float>* %".63"
  %".78" = call <16 x float> @"llvm.maximum.v16f32"(<16 x float> %".76", <16 x float> %".77")
  store <16 x float> %".78", <16 x float>* %".63"
  %".80" = add i64 %"i.1", 16
  %".81" = mul i64 %"i", 32
  %".82" = add i64 %".81", %".80"
  %".83" = getelementptr inbounds float, ptr %".26", i64 %".82"
  %".84" = load <16 x float>, ptr %".83", align 4
  %".85" = load <16 x float>, <16 x float>* %".64"
  %".86" = call <16 x float> @"llvm.maximum.v16f32"(<16 x float> %".84", <16 x float> %".85")
  store <16 x float> %".86", <16 x float>* %".64"
  %".88" = add i64 %"i.1", 32
  br label %"loop.1"
done.1:
  %".90" = load <16 x float>, <16 x float>* %".63"
  %".91" = load <16 x float>, <16 x float>* %".64"
  %".92" = call <16 x float> @"llvm.maximum.v16f32"(<16 x float> %".91", <16 x float> %".90")
  %".93" = shufflevector <16 x float> %".92", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".94" = shufflevector <16 x float> %".92", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".95" = call <8 x float> @"llvm.maximum.v8f32"(<8 x float> %".94", <8 x float> %".93")
  %".96" = shufflevector <8 x float> %".95", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".97" = shufflevector <8 x float> %".95", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".98" = call <4 x float> @"llvm.maximum.v4f32"(<4 x float> %".97", <4 x float> %".96")
  %".99" = shufflevector <4 x float> %".98", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".100" = shufflevector <4 x float> %".98", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".101" = call <2 x float> @"llvm.maximum.v2f32"(<2 x float> %".100", <2 x float> %".99")
  %".102" = shufflevector <2 x float> %".101", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".103" = shufflevector <2 x float> %".101", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".104" = extractelement <1 x float> %".102", i32 0
  %".105" = extractelement <1 x float> %".103", i32 0
  %".106" = call float @"llvm.maximum.f32"(float %".105", float %".104")
  %".107" = getelementptr inbounds float, ptr %".62", i64 %"i"
  store float %".106", ptr %".107", align 4
  %".109" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [0, %"done"], [%".168", %"done.3"]
  %".115" = icmp slt i64 %"i.2", 4
  br i1 %".115", label %"body.2", label %"done.2"
body.2:
  store <16 x float> splat (float              0x0), <16 x float>* %".112"
  store <16 x float> splat (float              0x0), <16 x float>* %".113"
  %".119" = getelementptr inbounds float, ptr %".62", i64 %"i.2"
  %".120" = load float, ptr %".119", align 4
  br label %"loop.3"
done.2:
  %".170" = getelementptr i8, ptr %".3", i64 256
  %".171" = getelementptr inbounds float, ptr %".62", i64 0
  %".172" = load <4 x float>, ptr %".171", align 4
  %".173" = getelementptr inbounds float, ptr %".111", i64 0
  %".174" = load <4 x float>, ptr %".173", align 4
  %".175" = call <4 x float> @"tilewright.log.v4f32"(<4 x float> %".174")
  %".176" = fadd <4 x float> %".172", %".175"
  %".177" = getelementptr inbounds float, ptr %".170", i64 0
  store <4 x float> %".176", ptr %".177", align 4
  %".179" = getelementptr inbounds i32, ptr %".30", i64 0
  %".180" = load <4 x i32>, ptr %".179", align 4
  %".181" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 0, i32 0
  %".182" = shufflevector <4 x i32> %".181", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".183" = icmp sge <4 x i32> %".180", %".182"
  %".184" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 32, i32 0
  %".185" = shufflevector <4 x i32> %".184", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".186" = icmp slt <4 x i32> %".180", %".185"
  %".187" = and <4 x i1> %".183", %".186"
  %".188" = getelementptr inbounds float, ptr %".170", i64 0
  %".189" = load <4 x float>, ptr %".188", align 4
  %".190" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x7ff8000000000000, i32 0
  %".191" = shufflevector <4 x float> %".190", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".192" = getelementptr inbounds i32, ptr %".39", i64 0
  %".193" = load <4 x i32>, ptr %".192", align 4
  %".194" = sext <4 x i32> %".193" to <4 x i64>
  %".195" = getelementptr inbounds i32, ptr %".55", i64 0
  %".196" = load <4 x i32>, ptr %".195", align 4
  %".197" = sext <4 x i32> %".196" to <4 x i64>
  %".198" = icmp ule <4 x i64> %".197", splat (i64 3)
  %".199" = icmp ule <4 x i64> %".194", splat (i64 31)
  %".200" = and <4 x i1> %".198", %".199"
  %".201" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 32, i32 0
  %".202" = shufflevector <4 x i64> %".201", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".203" = mul <4 x i64> %".197", %".202"
  %".204" = add <4 x i64> splat (i64 0), %".203"
  %".205" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 1, i32 0
  %".206" = shufflevector <4 x i64> %".205", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".207" = mul <4 x i64> %".194", %".206"
  %".208" = add <4 x i64> %".204", %".207"
  %".209" = ptrtoint ptr %".26" to i64
  %".210" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 %".209", i32 0
  %".211" = shufflevector <4 x i64> %".210", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".212" = mul <4 x i64> %".208", splat (i64 4)
  %".213" = add <4 x i64> %".211", %".212"
  %".214" = inttoptr <4 x i64> %".213" to <4 x ptr>
  %".215" = call <4 x float> @"llvm.masked.gather.v4f32.v4p0"(<4 x ptr> %".214", i32 4, <4 x i1> %".200", <4 x float> %".191")
  %".216" = fsub <4 x float> %".189", %".215"
  %".217" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".218" = shufflevector <4 x float> %".217", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".219" = select  <4 x i1> %".187", <4 x float> %".216", <4 x float> %".218"
  %".220" = getelementptr inbounds float, ptr %".34", i64 0
  store <4 x float> %".219", ptr %".220", align 4
  %".222" = getelementptr inbounds float, ptr %".170", i64 0
  %".223" = load <4 x float>, ptr %".222", align 4
  %".224" = getelementptr inbounds float, ptr %".38", i64 0
  store <4 x float> %".223", ptr %".224", align 4
  ret void
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".147", %"body.3"]
  %".122" = icmp slt i64 %"i.3", 32
  br i1 %".122", label %"body.3", label %"done.3"
body.3:
  %".124" = mul i64 %"i.2", 32
  %".125" = add i64 %".124", %"i.3"
  %".126" = getelementptr inbounds float, ptr %".26", i64 %".125"
  %".127" = load <16 x float>, ptr %".126", align 4
  %".128" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".120", i32 0
  %".129" = shufflevector <16 x float> %".128", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".130" = fsub <16 x float> %".127", %".129"
  %".131" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".130")
  %".132" = load <16 x float>, <16 x float>* %".112"
  %".133" = fadd <16 x float> %".132", %".131"
  store <16 x float> %".133", <16 x float>* %".112"
  %".135" = add i64 %"i.3", 16
  %".136" = mul i64 %"i.2", 32
  %".137" = add i64 %".136", %".135"
  %".138" = getelementptr inbounds float, ptr %".26", i64 %".137"
  %".139" = load <16 x float>, ptr %".138", align 4
  %".140" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".120", i32 0
  %".141" = shufflevector <16 x float> %".140", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".142" = fsub <16 x float> %".139", %".141"
  %".143" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".142")
  %".144" = load <16 x float>, <16 x float>* %".113"
  %".145" = fadd <16 x float> %".144", %".143"
  store <16 x float> %".145", <16 x float>* %".113"
  %".147" = add i64 %"i.3", 32
  br label %"loop.3"
done.3:
  %".149" = load <16 x float>, <16 x float>* %".112"
  %".150" = load <16 x float>, <16 x float>* %".113"
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
  %".166" = getelementptr inbounds float, ptr %".111", i64 %"i.2"
  store float %".165", ptr %".166", align 4
  %".168" = add i64 %"i.2", 1
  br label %"loop.2"
}
