; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4") alwaysinline
{
entry:
  %".65" = alloca <16 x float>
  %".66" = alloca <16 x float>
  %".135" = alloca <16 x float>
  %".136" = alloca <16 x float>
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
  %"i" = phi  i64 [0, %"start"], [%".132", %"done.1"]
  %".68" = icmp slt i64 %"i", 4
  br i1 %".68", label %"body", label %"done"
body:
  store <16 x float> splat (float 0xfff0000000000000), <16 x float>* %".65"
  store <16 x float> splat (float 0xfff0000000000000), <16 x float>* %".66"
  br label %"loop.1"
done:
  %".134" = getelementptr i8, ptr %".3", i64 192
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".96", %"body.1"]
  %".73" = icmp slt i64 %"i.1", 32
  br i1 %".73", label %"body.1", label %"done.1"
body.1:
  %".75" = mul i64 %"i", 32
  %".76" = add i64 %".75", %"i.1"
  %".77" = getelementptr inbounds float, ptr %".28", i64 %".76"
  %".78" = load <16 x float>, ptr %".77", align 4
  %".79" = load <16 x float>, <16 x float>* %".65"
  %".80" = fcmp ogt <16 x float> %".79", %".78"
  %".81" = select  <16 x i1> %".80", <16 x float> %".79", <16 x float> %".78"
  %".82" = fcmp uno <16 x float> %".79", %".79"
  %".83" = select  <16 x i1> %".82", <16 x float> %".79", <16 x float> %".81"
  store <16 x float> %".83", <16 x float>* %".65"
  %".85" = add i64 %"i.1", 16
  %".86" = mul i64 %"i", 32
  %".87" = add i64 %".86", %".85"
  %".88" = getelementptr inbounds float, ptr %".28", i64 %".87"
  %".89" = load <16 x float>, ptr %".88", align 4
  %".90" = load <16 x float>, <16 x float>* %".66"
  %".91" = fcmp ogt <16 x float> %".90", %".89"
  %".92" = select  <16 x i1> %".91", <16 x float> %".90", <16 x float> %".89"
  %".93" = fcmp uno <16 x float> %".90", %".90"
  %".94" = select  <16 x i1> %".93", <16 x float> %".90", <16 x float> %".92"
  store <16 x float> %".94", <16 x float>* %".66"
  %".96" = add i64 %"i.1", 32
  br label %"loop.1"
done.1:
  %".98" = load <16 x float>, <16 x float>* %".65"
  %".99" = load <16 x float>, <16 x float>* %".66"
  %".100" = fcmp ogt <16 x float> %".98", %".99"
  %".101" = select  <16 x i1> %".100", <16 x float> %".98", <16 x float> %".99"
  %".102" = fcmp uno <16 x float> %".98", %".98"
  %".103" = select  <16 x i1> %".102", <16 x float> %".98", <16 x float> %".101"
  %".104" = shufflevector <16 x float> %".103", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".105" = shufflevector <16 x float> %".103", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".106" = fcmp ogt <8 x float> %".104", %".105"
  %".107" = select  <8 x i1> %".106", <8 x float> %".104", <8 x float> %".105"
  %".108" = fcmp uno <8 x float> %".104", %".104"
  %".109" = select  <8 x i1> %".108", <8 x float> %".104", <8 x float> %".107"
  %".110" = shufflevector <8 x float> %".109", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".111" = shufflevector <8 x float> %".109", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".112" = fcmp ogt <4 x float> %".110", %".111"
  %".113" = select  <4 x i1> %".112", <4 x float> %".110", <4 x float> %".111"
  %".114" = fcmp uno <4 x float> %".110", %".110"
  %".115" = select  <4 x i1> %".114", <4 x float> %".110", <4 x float> %".113"
  %".116" = shufflevector <4 x float> %".115", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".117" = shufflevector <4 x float> %".115", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".118" = fcmp ogt <2 x float> %".116", %".117"
  %".119" = select  <2 x i1> %".118", <2 x float> %".116", <2 x float> %".117"
  %".120" = fcmp uno <2 x float> %".116", %".116"
  %".121" = select  <2 x i1> %".120", <2 x float> %".116", <2 x float> %".119"
  %".122" = shufflevector <2 x float> %".121", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".123" = shufflevector <2 x float> %".121", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".124" = extractelement <1 x float> %".122", i32 0
  %".125" = extractelement <1 x float> %".123", i32 0
  %".126" = fcmp ogt float %".124", %".125"
  %".127" = select  i1 %".126", float %".124", float %".125"
  %".128" = fcmp uno float %".124", %".124"
  %".129" = select  i1 %".128", float %".124", float %".127"
  %".130" = getelementptr inbounds float, ptr %".64", i64 %"i"
  store float %".129", ptr %".130", align 4
  %".132" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [0, %"done"], [%".191", %"done.3"]
  %".138" = icmp slt i64 %"i.2", 4
  br i1 %".138", label %"body.2", label %"done.2"
body.2:
  store <16 x float> splat (float              0x0), <16 x float>* %".135"
  store <16 x float> splat (float              0x0), <16 x float>* %".136"
  %".142" = getelementptr inbounds float, ptr %".64", i64 %"i.2"
  %".143" = load float, ptr %".142", align 4
  br label %"loop.3"
done.2:
  %".193" = getelementptr i8, ptr %".3", i64 256
  %".194" = getelementptr inbounds float, ptr %".64", i64 0
  %".195" = load <4 x float>, ptr %".194", align 4
  %".196" = getelementptr inbounds float, ptr %".134", i64 0
  %".197" = load <4 x float>, ptr %".196", align 4
  %".198" = call <4 x float> @"tilewright.log.v4f32"(<4 x float> %".197")
  %".199" = fadd <4 x float> %".195", %".198"
  %".200" = getelementptr inbounds float, ptr %".193", i64 0
  store <4 x float> %".199", ptr %".200", align 4
  %".202" = getelementptr inbounds i32, ptr %".32", i64 0
  %".203" = load <4 x i32>, ptr %".202", align 4
  %".204" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 0, i32 0
  %".205" = shufflevector <4 x i32> %".204", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".206" = icmp sge <4 x i32> %".203", %".205"
  %".207" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 32, i32 0
  %".208" = shufflevector <4 x i32> %".207", <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, <4 x i32> splat (i32 0)
  %".209" = icmp slt <4 x i32> %".203", %".208"
  %".210" = and <4 x i1> %".206", %".209"
  %".211" = getelementptr inbounds float, ptr %".193", i64 0
  %".212" = load <4 x float>, ptr %".211", align 4
  %".213" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float 0x7ff8000000000000, i32 0
  %".214" = shufflevector <4 x float> %".213", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".215" = getelementptr inbounds i32, ptr %".41", i64 0
  %".216" = load <4 x i32>, ptr %".215", align 4
  %".217" = sext <4 x i32> %".216" to <4 x i64>
  %".218" = getelementptr inbounds i32, ptr %".57", i64 0
  %".219" = load <4 x i32>, ptr %".218", align 4
  %".220" = sext <4 x i32> %".219" to <4 x i64>
  %".221" = icmp ule <4 x i64> %".220", splat (i64 3)
  %".222" = icmp ule <4 x i64> %".217", splat (i64 31)
  %".223" = and <4 x i1> %".221", %".222"
  %".224" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 32, i32 0
  %".225" = shufflevector <4 x i64> %".224", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".226" = mul <4 x i64> %".220", %".225"
  %".227" = add <4 x i64> splat (i64 0), %".226"
  %".228" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 1, i32 0
  %".229" = shufflevector <4 x i64> %".228", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".230" = mul <4 x i64> %".217", %".229"
  %".231" = add <4 x i64> %".227", %".230"
  %".232" = ptrtoint ptr %".28" to i64
  %".233" = insertelement <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, i64 %".232", i32 0
  %".234" = shufflevector <4 x i64> %".233", <4 x i64> <i64 undef, i64 undef, i64 undef, i64 undef>, <4 x i32> splat (i32 0)
  %".235" = mul <4 x i64> %".231", splat (i64 4)
  %".236" = add <4 x i64> %".234", %".235"
  %".237" = inttoptr <4 x i64> %".236" to <4 x ptr>
  %".238" = call <4 x float> @"llvm.masked.gather.v4f32.v4p0"(<4 x ptr> %".237", i32 4, <4 x i1> %".223", <4 x float> %".214")
  %".239" = fsub <4 x float> %".212", %".238"
  %".240" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".241" = shufflevector <4 x float> %".240", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> splat (i32 0)
  %".242" = select  <4 x i1> %".210", <4 x float> %".239", <4 x float> %".241"
  %".243" = getelementptr inbounds float, ptr %".36", i64 0
  store <4 x float> %".242", ptr %".243", align 4
  %".245" = getelementptr inbounds float, ptr %".193", i64 0
  %".246" = load <4 x float>, ptr %".245", align 4
  %".247" = getelementptr inbounds float, ptr %".40", i64 0
  store <4 x float> %".246", ptr %".247", align 4
  ret void
loop.3:
  %"i.3" = phi  i64 [0, %"body.2"], [%".170", %"body.3"]
  %".145" = icmp slt i64 %"i.3", 32
  br i1 %".145", label %"body.3", label %"done.3"
body.3:
  %".147" = mul i64 %"i.2", 32
  %".148" = add i64 %".147", %"i.3"
  %".149" = getelementptr inbounds float, ptr %".28", i64 %".148"
  %".150" = load <16 x float>, ptr %".149", align 4
  %".151" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".143", i32 0
  %".152" = shufflevector <16 x float> %".151", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".153" = fsub <16 x float> %".150", %".152"
  %".154" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".153")
  %".155" = load <16 x float>, <16 x float>* %".135"
  %".156" = fadd <16 x float> %".155", %".154"
  store <16 x float> %".156", <16 x float>* %".135"
  %".158" = add i64 %"i.3", 16
  %".159" = mul i64 %"i.2", 32
  %".160" = add i64 %".159", %".158"
  %".161" = getelementptr inbounds float, ptr %".28", i64 %".160"
  %".162" = load <16 x float>, ptr %".161", align 4
  %".163" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".143", i32 0
  %".164" = shufflevector <16 x float> %".163", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> splat (i32 0)
  %".165" = fsub <16 x float> %".162", %".164"
  %".166" = call <16 x float> @"tilewright.exp.v16f32"(<16 x float> %".165")
  %".167" = load <16 x float>, <16 x float>* %".136"
  %".168" = fadd <16 x float> %".167", %".166"
  store <16 x float> %".168", <16 x float>* %".136"
  %".170" = add i64 %"i.3", 32
  br label %"loop.3"
done.3:
  %".172" = load <16 x float>, <16 x float>* %".135"
  %".173" = load <16 x float>, <16 x float>* %".136"
  %".174" = fadd <16 x float> %".172", %".173"
  %".175" = shufflevector <16 x float> %".174", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".176" = shufflevector <16 x float> %".174", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".177" = fadd <8 x float> %".175", %".176"
  %".178" = shufflevector <8 x float> %".177", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".179" = shufflevector <8 x float> %".177", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".180" = fadd <4 x float> %".178", %".179"
  %".181" = shufflevector <4 x float> %".180", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".182" = shufflevector <4 x float> %".180", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".183" = fadd <2 x float> %".181", %".182"
  %".184" = shufflevector <2 x float> %".183", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".185" = shufflevector <2 x float> %".183", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".186" = extractelement <1 x float> %".184", i32 0
  %".187" = extractelement <1 x float> %".185", i32 0
  %".188" = fadd float %".186", %".187"
  %".189" = getelementptr inbounds float, ptr %".134", i64 %"i.2"
  store float %".188", ptr %".189", align 4
  %".191" = add i64 %"i.2", 1
  br label %"loop.2"
}
