; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".72" = alloca <16 x float>
  %".73" = alloca <16 x float>
  %".142" = alloca <16 x float>
  %".143" = alloca <16 x float>
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
  %".50" = getelementptr inbounds i32, ptr %".41", i64 0
  store <4 x i32> %".49", ptr %".50", align 4
  %".52" = getelementptr i8, ptr %".3", i64 64
  %".53" = getelementptr inbounds i32, ptr %".41", i64 0
  %".54" = load <4 x i32>, ptr %".53", align 4
  %".55" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 0, i32 0
  %".56" = shufflevector <4 x i32> %".55", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".57" = icmp slt <4 x i32> %".54", %".56"
  %".58" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 32, i32 0
  %".59" = shufflevector <4 x i32> %".58", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".60" = add <4 x i32> %".54", %".59"
  %".61" = select  <4 x i1> %".57", <4 x i32> %".60", <4 x i32> %".54"
  %".62" = getelementptr inbounds i32, ptr %".52", i64 0
  store <4 x i32> %".61", ptr %".62", align 4
  %".64" = getelementptr i8, ptr %".3", i64 128
  %".65" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 0, i32 0
  %".66" = shufflevector <4 x i64> %".65", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".67" = add <4 x i64> %".66", <i64 0, i64 1, i64 2, i64 3>
  %".68" = trunc <4 x i64> %".67" to <4 x i32>
  %".69" = getelementptr inbounds i32, ptr %".64", i64 0
  store <4 x i32> %".68", ptr %".69", align 4
  %".71" = getelementptr i8, ptr %".3", i64 192
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".139", %"done.1"]
  %".75" = icmp slt i64 %"i", 4
  br i1 %".75", label %"body", label %"done"
body:
  store <16 x float> splat (float 0xfff0000000000000), <16 x float>* %".72"
  store <16 x float> splat (float 0xfff0000000000000), <16 x float>* %".73"
  br label %"loop.1"
done:
  %".141" = getelementptr i8, ptr %".3", i64 256
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".103", %"body.1"]
  %".80" = icmp slt i64 %"i.1", 32
  br i1 %".80", label %"body.1", label %"done.1"
body.1:
  %".82" = mul i64 %"i", 32
  %".83" = add i64 %".82", %"i.1"
  %".84" = getelementptr inbounds float, ptr %".28", i64 %".83"
  %".85" = load <16 x float>, ptr %".84", align 4
  %".86" = load <16 x float>, <16 x float>* %".72"
  %".87" = fcmp ogt <16 x float> %".86", %".85"
  %".88" = select  <16 x i1> %".87", <16 x float> %".86", <16 x float> %".85"
  %".89" = fcmp uno <16 x float> %".86", %".86"
  %".90" = select  <16 x i1> %".89", <16 x float> %".86", <16 x float> %".88"
  store <16 x float> %".90", <16 x float>* %".72"
  %".92" = add i64 %"i.1", 16
  %".93" = mul i64 %"i", 32
  %".94" = add i64 %".93", %".92"
  %".95" = getelementptr inbounds float, ptr %".28", i64 %".94"
  %".96" = load <16 x float>, ptr %".95", align 4
  %".97" = load <16 x float>, <16 x float>* %".73"
  %".98" = fcmp ogt <16 x float> %".97", %".96"
  %".99" = select  <16 x i1> %".98", <16 x float> %".97", <16 x float> %".96"
  %".100" = fcmp uno <16 x float> %".97", %".97"
  %".101" = select  <16 x i1> %".100", <16 x float> %".97", <16 x float> %".99"
  store <16 x float> %".101", <16 x float>* %".73"
  %".103" = add i64 %"i.1", 32
  br label %"loop.1"
done.1:
  %".105" = load <16 x float>, <16 x float>* %".72"
  %".106" = load <16 x float>, <16 x float>* %".73"
  %".107" = fcmp ogt <16 x float> %".105", %".106"
  %".108" = select  <16 x i1> %".107", <16 x float> %".105", <16 x float> %".106"
  %".109" = fcmp uno <16 x float> %".105", %".105"
  %".110" = select  <16 x i1> %".109", <16 x float> %".105", <16 x float> %".108"
  %".111" = shufflevector <16 x float> %".110", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".112" = shufflevector <16 x float> %".110", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".113" = fcmp ogt <8 x float> %".111", %".112"
  %".114" = select  <8 x i1> %".113", <8 x float> %".111", <8 x float> %".112"
  %".115" = fcmp uno <8 x float> %".111", %".111"
  %".116" = select  <8 x i1> %".115", <8 x float> %".111", <8 x float> %".114"
  %".117" = shufflevector <8 x float> %".116", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".118" = shufflevector <8 x float> %".116", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".119" = fcmp ogt <4 x float> %".117", %".118"
  %".120" = select  <4 x i1> %".119", <4 x float> %".117", <4 x float> %".118"
  %".121" = fcmp uno <4 x float> %".117", %".117"
  %".122" = select  <4 x i1> %".121", <4 x float> %".117", <4 x float> %".120"
  %".123" = shufflevector <4 x float> %".122", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".124" = shufflevector <4 x float> %".122", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".125" = fcmp ogt <2 x float> %".123", %".124"
  %".126" = select  <2 x i1> %".125", <2 x float> %".123", <2 x float> %".124"
  %".127" = fcmp uno <2 x float> %".123", %".123"
  %".128" = select  <2 x i1> %".127", <2 x float> %".123", <2 x float> %".126"
  %".129" = shufflevector <2 x float> %".128", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".130" = shufflevector <2 x float> %".128", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".131" = extractelement <1 x float> %".129", i32 0
  %".132" = extractelement <1 x float> %".130", i32 0
  %".133" = fcmp ogt float %".131", %".132"
  %".134" = select  i1 %".133", float %".131", float %".132"
  %".135" = fcmp uno float %".131", %".131"
  %".136" = select  i1 %".135", float %".131", float %".134"
  %".137" = getelementptr inbounds float, ptr %".71", i64 %"i"
  store float %".136", ptr %".137", align 4
  %".139" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [0, %"done"], [%".198", %"done.3"]
  %".145" = icmp slt i64 %"i.2", 4
  br i1 %".145", label %"body.2", label %"done.2"
body.2:
  store <16 x float> splat (float              0x0), <16 x float>* %".142"
  store <16 x float> splat (float              0x0), <16 x float>* %".143"
  %".149" = getelementptr inbounds float, ptr %".71", i64 %"i.2"
  %".150" = load float, ptr %".149", align 4
  br label %"loop.3"
done.2:
  %".200" = getelementptr i8, ptr %".3", i64 320
  %".201" = getelementptr inbounds float, ptr %".71", i64 0
  %".202" = load <4 x float>, ptr %".201", align 4
  %".203" = getelementptr inbounds float, ptr %".141", i64 0
  %".204" = load <4 x float>, ptr %".203", align 4
  %".205" = call <4 x float> @"tilewright.log.v4f32"(<4 x float> %".204")
  %".206" = fadd <4 x float> %".202", %".205"
  %".207" = getelementptr inbounds float, ptr %".200", i64 0
  store <4 x float> %".206", ptr %".207", align 4
  %".209" = getelementptr inbounds i32, ptr %".32", i64 0
  %".210" = load <4 x i32>, ptr %".209", align 4
  %".211" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 0, i32 0
  %".212" = shufflevector <4 x i32> %".211", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".213" = icmp sge <4 x i32> %".210", %".212"
  %".214" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 32, i32 0
  %".215" = shufflevector <4 x i32> %".214", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".216" = icmp slt <4 x i32> %".210", %".215"
  %".217" = and <4 x i1> %".213", %".216"
  %".218" = getelementptr inbounds float, ptr %".200", i64 0
  %".219" = load <4 x float>, ptr %".218", align 4
  %".220" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x7ff8000000000000, i32 0
  %".221" = shufflevector <4 x float> %".220", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".222" = getelementptr inbounds i32, ptr %".52", i64 0
  %".223" = load <4 x i32>, ptr %".222", align 4
  %".224" = sext <4 x i32> %".223" to <4 x i64>
  %".225" = getelementptr inbounds i32, ptr %".64", i64 0
  %".226" = load <4 x i32>, ptr %".225", align 4
  %".227" = sext <4 x i32> %".226" to <4 x i64>
  %".228" = icmp ule <4 x i64> %".227", splat (i64 3)
  %".229" = icmp ule <4 x i64> %".224", splat (i64 31)
  %".230" = and <4 x i1> %".228", %".229"
  %".231" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 32, i32 0
  %".232" = shufflevector <4 x i64> %".231", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".233" = mul <4 x i64> %".227", %".232"
  %".234" = add <4 x i64> splat (i64 0), %".233"
  %".235" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 1, i32 0
  %".236" = shufflevector <4 x i64> %".235", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".237" = mul <4 x i64> %".224", %".236"
  %".238" = add <4 x i64> %".234", %".237"
  %".239" = ptrtoint ptr %".28" to i64
  %".240" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 %".239", i32 0
  %".241" = shufflevector <4 x i64> %".240", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".242" = mul <4 x i64> %".238", splat (i64 4)
  %".243" = add <4 x i64> %".241", %".242"
  %".244" = inttoptr <4 x i64> %".243" to <4 x ptr>
  %".245" = call <4 x float> @"llvm.masked.gather.v4f32.v4p0"(<4 x ptr> %".244", i32 4, <4 x i1> %".230", <4 x float> %".221")
  %".246" = fsub <4 x float> %".219", %".245"
  %".247" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".248" = shufflevector <4 x float> %".247", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".249" = select  <4 x i1> %".217", <4 x float> %".246", <4 x float> %".248"
  %".250" = getelementptr inbounds float, ptr %".36", i64 0
  store <4 x float> %".249", ptr %".250", align 4
  %".252" = getelementptr inbounds float, ptr %".200", i64 0
  %".253" = load <4 x float>, ptr %".252", align 4
  %".254" = getelementptr inbounds float, ptr %".40", i64 0
  store <4 x float> %".253", ptr %".254", align 4
  ret void
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".177", %"body.3"]
  %".152" = icmp slt i64 %"i.3", 32
  br i1 %".152", label %"body.3", label %"done.3"
body.3:
  %".154" = mul i64 %"i.2", 32
  %".155" = add i64 %".154", %"i.3"
  %".156" = getelementptr inbounds float, ptr %".28", i64 %".155"
  %".157" = load <16 x float>, ptr %".156", align 4
  %".158" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".150", i32 0
  %".159" = shufflevector <16 x float> %".158", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".160" = fsub <16 x float> %".157", %".159"
  %".161" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".160")
  %".162" = load <16 x float>, <16 x float>* %".142"
  %".163" = fadd <16 x float> %".162", %".161"
  store <16 x float> %".163", <16 x float>* %".142"
  %".165" = add i64 %"i.3", 16
  %".166" = mul i64 %"i.2", 32
  %".167" = add i64 %".166", %".165"
  %".168" = getelementptr inbounds float, ptr %".28", i64 %".167"
  %".169" = load <16 x float>, ptr %".168", align 4
  %".170" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".150", i32 0
  %".171" = shufflevector <16 x float> %".170", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".172" = fsub <16 x float> %".169", %".171"
  %".173" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".172")
  %".174" = load <16 x float>, <16 x float>* %".143"
  %".175" = fadd <16 x float> %".174", %".173"
  store <16 x float> %".175", <16 x float>* %".143"
  %".177" = add i64 %"i.3", 32
  br label %"loop.3"
done.3:
  %".179" = load <16 x float>, <16 x float>* %".142"
  %".180" = load <16 x float>, <16 x float>* %".143"
  %".181" = fadd <16 x float> %".179", %".180"
  %".182" = shufflevector <16 x float> %".181", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".183" = shufflevector <16 x float> %".181", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".184" = fadd <8 x float> %".182", %".183"
  %".185" = shufflevector <8 x float> %".184", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".186" = shufflevector <8 x float> %".184", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".187" = fadd <4 x float> %".185", %".186"
  %".188" = shufflevector <4 x float> %".187", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".189" = shufflevector <4 x float> %".187", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".190" = fadd <2 x float> %".188", %".189"
  %".191" = shufflevector <2 x float> %".190", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".192" = shufflevector <2 x float> %".190", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".193" = extractelement <1 x float> %".191", i32 0
  %".194" = extractelement <1 x float> %".192", i32 0
  %".195" = fadd float %".193", %".194"
  %".196" = getelementptr inbounds float, ptr %".141", i64 %"i.2"
  store float %".195", ptr %".196", align 4
  %".198" = add i64 %"i.2", 1
  br label %"loop.2"
}
