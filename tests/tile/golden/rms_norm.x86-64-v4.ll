; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".177" = alloca <16 x float>
  %".178" = alloca <16 x float>
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
  %".21" = sext i32 0 to i64
  %".22" = mul i64 %".20", 4
  %".23" = mul i64 %".21", 32
  %".24" = icmp ule i64 %".22", 0
  %".25" = icmp ule i64 %".23", 0
  %".26" = and i1 %".24", %".25"
  %".27" = mul i64 %".22", 32
  %".28" = add i64 %".27", %".23"
  %".29" = getelementptr float, ptr %".12", i64 %".28"
  %".30" = getelementptr i8, ptr %".3", i64 0
  %".31" = xor i1 %".26", -1
  br i1 %".31", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".80" = select  i1 %".26", ptr %".29", ptr %".30"
  %".81" = trunc i64 %".9" to i32
  %".82" = sext i32 0 to i64
  %".83" = mul i64 %".82", 32
  %".84" = icmp ule i64 %".83", 0
  %".85" = getelementptr float, ptr %".14", i64 %".83"
  %".86" = getelementptr i8, ptr %".3", i64 512
  %".87" = xor i1 %".84", -1
  br i1 %".87", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".45", %"done.1"]
  %".34" = icmp slt i64 %"i", 4
  br i1 %".34", label %"body", label %"done"
body:
  br label %"loop.1"
done:
  %".47" = icmp slt i64 %".22", 0
  %".48" = sub i64 0, %".22"
  %".49" = select  i1 %".47", i64 %".48", i64 0
  %".50" = sub i64 4, %".22"
  %".51" = icmp slt i64 %".50", 4
  %".52" = select  i1 %".51", i64 %".50", i64 4
  %".53" = icmp slt i64 %".23", 0
  %".54" = sub i64 0, %".23"
  %".55" = select  i1 %".53", i64 %".54", i64 0
  %".56" = sub i64 32, %".23"
  %".57" = icmp slt i64 %".56", 32
  %".58" = select  i1 %".57", i64 %".56", i64 32
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".43", %"body.1"]
  %".37" = icmp slt i64 %"i.1", 32
  br i1 %".37", label %"body.1", label %"done.1"
body.1:
  %".39" = mul i64 %"i", 32
  %".40" = add i64 %".39", %"i.1"
  %".41" = getelementptr inbounds float, ptr %".30", i64 %".40"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".41", align 4
  %".43" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  %".45" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [%".49", %"done"], [%".77", %"done.3"]
  %".60" = icmp slt i64 %"i.2", %".52"
  br i1 %".60", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".55", %"body.2"], [%".75", %"body.3"]
  %".63" = icmp slt i64 %"i.3", %".58"
  br i1 %".63", label %"body.3", label %"done.3"
body.3:
  %".65" = add i64 %".22", %"i.2"
  %".66" = add i64 %".23", %"i.3"
  %".67" = mul i64 %".65", 32
  %".68" = add i64 %".67", %".66"
  %".69" = getelementptr inbounds float, ptr %".12", i64 %".68"
  %".70" = load float, ptr %".69", align 4
  %".71" = mul i64 %"i.2", 32
  %".72" = add i64 %".71", %"i.3"
  %".73" = getelementptr inbounds float, ptr %".30", i64 %".72"
  store float %".70", ptr %".73", align 4
  %".75" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".77" = add i64 %"i.2", 1
  br label %"loop.2"
then.1:
  br label %"loop.4"
end.1:
  %".113" = select  i1 %".84", ptr %".85", ptr %".86"
  %".114" = trunc i64 %".9" to i32
  %".115" = sext i32 %".114" to i64
  %".116" = sext i32 0 to i64
  %".117" = mul i64 %".115", 4
  %".118" = mul i64 %".116", 32
  %".119" = icmp ule i64 %".117", 0
  %".120" = icmp ule i64 %".118", 0
  %".121" = and i1 %".119", %".120"
  %".122" = mul i64 %".117", 32
  %".123" = add i64 %".122", %".118"
  %".124" = getelementptr float, ptr %".16", i64 %".123"
  %".125" = getelementptr i8, ptr %".3", i64 640
  %".126" = xor i1 %".121", -1
  br i1 %".126", label %"then.2", label %"end.2"
loop.4:
  %"i.4" = phi  i64 [0, %"then.1"], [%".94", %"body.4"]
  %".90" = icmp slt i64 %"i.4", 32
  br i1 %".90", label %"body.4", label %"done.4"
body.4:
  %".92" = getelementptr inbounds float, ptr %".86", i64 %"i.4"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".92", align 4
  %".94" = add i64 %"i.4", 16
  br label %"loop.4"
done.4:
  %".96" = icmp slt i64 %".83", 0
  %".97" = sub i64 0, %".83"
  %".98" = select  i1 %".96", i64 %".97", i64 0
  %".99" = sub i64 32, %".83"
  %".100" = icmp slt i64 %".99", 32
  %".101" = select  i1 %".100", i64 %".99", i64 32
  br label %"loop.5"
loop.5:
  %"i.5" = phi  i64 [%".98", %"done.4"], [%".110", %"body.5"]
  %".103" = icmp slt i64 %"i.5", %".101"
  br i1 %".103", label %"body.5", label %"done.5"
body.5:
  %".105" = add i64 %".83", %"i.5"
  %".106" = getelementptr inbounds float, ptr %".14", i64 %".105"
  %".107" = load float, ptr %".106", align 4
  %".108" = getelementptr inbounds float, ptr %".86", i64 %"i.5"
  store float %".107", ptr %".108", align 4
  %".110" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  br label %"end.1"
then.2:
  br label %"loop.6"
end.2:
  %".175" = select  i1 %".121", ptr %".124", ptr %".125"
  %".176" = getelementptr i8, ptr %".3", i64 1152
  br label %"loop.10"
loop.6:
  %"i.6" = phi  i64 [0, %"then.2"], [%".140", %"done.7"]
  %".129" = icmp slt i64 %"i.6", 4
  br i1 %".129", label %"body.6", label %"done.6"
body.6:
  br label %"loop.7"
done.6:
  %".142" = icmp slt i64 %".117", 0
  %".143" = sub i64 0, %".117"
  %".144" = select  i1 %".142", i64 %".143", i64 0
  %".145" = sub i64 4, %".117"
  %".146" = icmp slt i64 %".145", 4
  %".147" = select  i1 %".146", i64 %".145", i64 4
  %".148" = icmp slt i64 %".118", 0
  %".149" = sub i64 0, %".118"
  %".150" = select  i1 %".148", i64 %".149", i64 0
  %".151" = sub i64 32, %".118"
  %".152" = icmp slt i64 %".151", 32
  %".153" = select  i1 %".152", i64 %".151", i64 32
  br label %"loop.8"
loop.7:
  %"i.7" = phi  i64 [0, %"body.6"], [%".138", %"body.7"]
  %".132" = icmp slt i64 %"i.7", 32
  br i1 %".132", label %"body.7", label %"done.7"
body.7:
  %".134" = mul i64 %"i.6", 32
  %".135" = add i64 %".134", %"i.7"
  %".136" = getelementptr inbounds float, ptr %".125", i64 %".135"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".136", align 4
  %".138" = add i64 %"i.7", 16
  br label %"loop.7"
done.7:
  %".140" = add i64 %"i.6", 1
  br label %"loop.6"
loop.8:
  %"i.8" = phi  i64 [%".144", %"done.6"], [%".172", %"done.9"]
  %".155" = icmp slt i64 %"i.8", %".147"
  br i1 %".155", label %"body.8", label %"done.8"
body.8:
  br label %"loop.9"
done.8:
  br label %"end.2"
loop.9:
  %"i.9" = phi  i64 [%".150", %"body.8"], [%".170", %"body.9"]
  %".158" = icmp slt i64 %"i.9", %".153"
  br i1 %".158", label %"body.9", label %"done.9"
body.9:
  %".160" = add i64 %".117", %"i.8"
  %".161" = add i64 %".118", %"i.9"
  %".162" = mul i64 %".160", 32
  %".163" = add i64 %".162", %".161"
  %".164" = getelementptr inbounds float, ptr %".16", i64 %".163"
  %".165" = load float, ptr %".164", align 4
  %".166" = mul i64 %"i.8", 32
  %".167" = add i64 %".166", %"i.9"
  %".168" = getelementptr inbounds float, ptr %".125", i64 %".167"
  store float %".165", ptr %".168", align 4
  %".170" = add i64 %"i.9", 1
  br label %"loop.9"
done.9:
  %".172" = add i64 %"i.8", 1
  br label %"loop.8"
loop.10:
  %"i.10" = phi  i64 [0, %"end.2"], [%".225", %"done.11"]
  %".180" = icmp slt i64 %"i.10", 4
  br i1 %".180", label %"body.10", label %"done.10"
body.10:
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".177"
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".178"
  br label %"loop.11"
done.10:
  br label %"loop.12"
loop.11:
  %"i.11" = phi  i64 [0, %"body.10"], [%".204", %"body.11"]
  %".185" = icmp slt i64 %"i.11", 32
  br i1 %".185", label %"body.11", label %"done.11"
body.11:
  %".187" = mul i64 %"i.10", 32
  %".188" = add i64 %".187", %"i.11"
  %".189" = getelementptr inbounds float, ptr %".80", i64 %".188"
  %".190" = load <16 x float>, ptr %".189", align 4
  %".191" = fmul <16 x float> %".190", %".190"
  %".192" = load <16 x float>, <16 x float>* %".177"
  %".193" = fadd <16 x float> %".192", %".191"
  store <16 x float> %".193", <16 x float>* %".177"
  %".195" = add i64 %"i.11", 16
  %".196" = mul i64 %"i.10", 32
  %".197" = add i64 %".196", %".195"
  %".198" = getelementptr inbounds float, ptr %".80", i64 %".197"
  %".199" = load <16 x float>, ptr %".198", align 4
  %".200" = fmul <16 x float> %".199", %".199"
  %".201" = load <16 x float>, <16 x float>* %".178"
  %".202" = fadd <16 x float> %".201", %".200"
  store <16 x float> %".202", <16 x float>* %".178"
  %".204" = add i64 %"i.11", 32
  br label %"loop.11"
done.11:
  %".206" = load <16 x float>, <16 x float>* %".177"
  %".207" = load <16 x float>, <16 x float>* %".178"
  %".208" = fadd <16 x float> %".206", %".207"
  %".209" = shufflevector <16 x float> %".208", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".210" = shufflevector <16 x float> %".208", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".211" = fadd <8 x float> %".209", %".210"
  %".212" = shufflevector <8 x float> %".211", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".213" = shufflevector <8 x float> %".211", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".214" = fadd <4 x float> %".212", %".213"
  %".215" = shufflevector <4 x float> %".214", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".216" = shufflevector <4 x float> %".214", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".217" = fadd <2 x float> %".215", %".216"
  %".218" = shufflevector <2 x float> %".217", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".219" = shufflevector <2 x float> %".217", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".220" = extractelement <1 x float> %".218", i32 0
  %".221" = extractelement <1 x float> %".219", i32 0
  %".222" = fadd float %".220", %".221"
  %".223" = getelementptr inbounds float, ptr %".176", i64 %"i.10"
  store float %".222", ptr %".223", align 4
  %".225" = add i64 %"i.10", 1
  br label %"loop.10"
loop.12:
  %"i.12" = phi  i64 [0, %"done.10"], [%".255", %"done.13"]
  %".228" = icmp slt i64 %"i.12", 4
  br i1 %".228", label %"body.12", label %"done.12"
body.12:
  %".230" = getelementptr inbounds float, ptr %".176", i64 %"i.12"
  %".231" = load float, ptr %".230", align 4
  %".232" = fmul float %".231", 0x3fa0000000000000
  %".233" = fadd float %".232", 0x3eb0c6f7a0000000
  %".234" = call float @"llvm.sqrt.f32"(float %".233")
  %".235" = fdiv float 0x3ff0000000000000, %".234"
  br label %"loop.13"
done.12:
  br i1 %".126", label %"then.3", label %"end.3"
loop.13:
  %"i.13" = phi  i64 [0, %"body.12"], [%".253", %"body.13"]
  %".237" = icmp slt i64 %"i.13", 32
  br i1 %".237", label %"body.13", label %"done.13"
body.13:
  %".239" = mul i64 %"i.12", 32
  %".240" = add i64 %".239", %"i.13"
  %".241" = getelementptr inbounds float, ptr %".80", i64 %".240"
  %".242" = load <16 x float>, ptr %".241", align 4
  %".243" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".235", i32 0
  %".244" = shufflevector <16 x float> %".243", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".245" = fmul <16 x float> %".242", %".244"
  %".246" = getelementptr inbounds float, ptr %".113", i64 %"i.13"
  %".247" = load <16 x float>, ptr %".246", align 4
  %".248" = fmul <16 x float> %".245", %".247"
  %".249" = mul i64 %"i.12", 32
  %".250" = add i64 %".249", %"i.13"
  %".251" = getelementptr inbounds float, ptr %".175", i64 %".250"
  store <16 x float> %".248", ptr %".251", align 4
  %".253" = add i64 %"i.13", 16
  br label %"loop.13"
done.13:
  %".255" = add i64 %"i.12", 1
  br label %"loop.12"
then.3:
  %".258" = icmp slt i64 %".117", 0
  %".259" = sub i64 0, %".117"
  %".260" = select  i1 %".258", i64 %".259", i64 0
  %".261" = sub i64 4, %".117"
  %".262" = icmp slt i64 %".261", 4
  %".263" = select  i1 %".262", i64 %".261", i64 4
  %".264" = icmp slt i64 %".118", 0
  %".265" = sub i64 0, %".118"
  %".266" = select  i1 %".264", i64 %".265", i64 0
  %".267" = sub i64 32, %".118"
  %".268" = icmp slt i64 %".267", 32
  %".269" = select  i1 %".268", i64 %".267", i64 32
  br label %"loop.14"
end.3:
  ret void
loop.14:
  %"i.14" = phi  i64 [%".260", %"then.3"], [%".288", %"done.15"]
  %".271" = icmp slt i64 %"i.14", %".263"
  br i1 %".271", label %"body.14", label %"done.14"
body.14:
  br label %"loop.15"
done.14:
  br label %"end.3"
loop.15:
  %"i.15" = phi  i64 [%".266", %"body.14"], [%".286", %"body.15"]
  %".274" = icmp slt i64 %"i.15", %".269"
  br i1 %".274", label %"body.15", label %"done.15"
body.15:
  %".276" = add i64 %".117", %"i.14"
  %".277" = add i64 %".118", %"i.15"
  %".278" = mul i64 %"i.14", 32
  %".279" = add i64 %".278", %"i.15"
  %".280" = getelementptr inbounds float, ptr %".125", i64 %".279"
  %".281" = load float, ptr %".280", align 4
  %".282" = mul i64 %".276", 32
  %".283" = add i64 %".282", %".277"
  %".284" = getelementptr inbounds float, ptr %".16", i64 %".283"
  store float %".281", ptr %".284", align 4
  %".286" = add i64 %"i.15", 1
  br label %"loop.15"
done.15:
  %".288" = add i64 %"i.14", 1
  br label %"loop.14"
}
