; neon
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".2", i64 0
  %".7" = load i64, ptr %".6"
  %".8" = getelementptr i64, ptr %".2", i64 1
  %".9" = load i64, ptr %".8"
  %".10" = getelementptr i64, ptr %".2", i64 2
  %".11" = load i64, ptr %".10"
  %".12" = urem i64 %".4", %".9"
  %".13" = udiv i64 %".4", %".9"
  %".14" = urem i64 %".13", %".7"
  %".15" = udiv i64 %".13", %".7"
  %".16" = getelementptr ptr, ptr %".1", i64 0
  %".17" = load ptr, ptr %".16"
  %".18" = getelementptr ptr, ptr %".1", i64 1
  %".19" = load ptr, ptr %".18"
  %".20" = getelementptr ptr, ptr %".1", i64 2
  %".21" = load ptr, ptr %".20"
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".419", %"end.3"]
  %".23" = icmp slt i64 %"i", %".11"
  br i1 %".23", label %"body", label %"done"
body:
  %".25" = trunc i64 %".14" to i32
  %".26" = trunc i64 %".12" to i32
  %".27" = trunc i64 %"i" to i32
  %".28" = trunc i64 %".7" to i32
  %".29" = trunc i64 %".9" to i32
  %".30" = trunc i64 %".11" to i32
  %".31" = trunc i64 %".14" to i32
  %".32" = trunc i64 %".12" to i32
  %".33" = trunc i64 %"i" to i32
  %".34" = sext i32 %".31" to i64
  %".35" = sext i32 %".33" to i64
  %".36" = mul i64 %".34", 4
  %".37" = mul i64 %".35", 8
  %".38" = icmp ule i64 %".36", 4
  %".39" = icmp ule i64 %".37", 8
  %".40" = and i1 %".38", %".39"
  %".41" = mul i64 %".36", 16
  %".42" = add i64 %".41", %".37"
  %".43" = getelementptr float, ptr %".17", i64 %".42"
  %".44" = getelementptr i8, ptr %".3", i64 0
  %".45" = xor i1 %".40", -1
  br i1 %".45", label %"then", label %"end"
done:
  ret void
then:
  br label %"loop.1"
end:
  %".94" = select  i1 %".40", ptr %".43", ptr %".44"
  %".95" = select  i1 %".40", i64 16, i64 8
  %".96" = trunc i64 %".14" to i32
  %".97" = trunc i64 %".12" to i32
  %".98" = trunc i64 %"i" to i32
  %".99" = sext i32 %".98" to i64
  %".100" = sext i32 %".97" to i64
  %".101" = mul i64 %".99", 8
  %".102" = mul i64 %".100", 6
  %".103" = icmp ule i64 %".101", 8
  %".104" = icmp ule i64 %".102", 6
  %".105" = and i1 %".103", %".104"
  %".106" = mul i64 %".101", 12
  %".107" = add i64 %".106", %".102"
  %".108" = getelementptr float, ptr %".19", i64 %".107"
  %".109" = getelementptr i8, ptr %".3", i64 128
  %".110" = xor i1 %".105", -1
  br i1 %".110", label %"then.1", label %"end.1"
loop.1:
  %"i.1" = phi  i64 [0, %"then"], [%".59", %"done.2"]
  %".48" = icmp slt i64 %"i.1", 4
  br i1 %".48", label %"body.1", label %"done.1"
body.1:
  br label %"loop.2"
done.1:
  %".61" = icmp slt i64 %".36", 0
  %".62" = sub i64 0, %".36"
  %".63" = select  i1 %".61", i64 %".62", i64 0
  %".64" = sub i64 8, %".36"
  %".65" = icmp slt i64 %".64", 4
  %".66" = select  i1 %".65", i64 %".64", i64 4
  %".67" = icmp slt i64 %".37", 0
  %".68" = sub i64 0, %".37"
  %".69" = select  i1 %".67", i64 %".68", i64 0
  %".70" = sub i64 16, %".37"
  %".71" = icmp slt i64 %".70", 8
  %".72" = select  i1 %".71", i64 %".70", i64 8
  br label %"loop.3"
loop.2:
  %"i.2" = phi  i64 [0, %"body.1"], [%".57", %"body.2"]
  %".51" = icmp slt i64 %"i.2", 8
  br i1 %".51", label %"body.2", label %"done.2"
body.2:
  %".53" = mul i64 %"i.1", 8
  %".54" = add i64 %".53", %"i.2"
  %".55" = getelementptr inbounds float, ptr %".44", i64 %".54"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".55", align 4
  %".57" = add i64 %"i.2", 4
  br label %"loop.2"
done.2:
  %".59" = add i64 %"i.1", 1
  br label %"loop.1"
loop.3:
  %"i.3" = phi  i64 [%".63", %"done.1"], [%".91", %"done.4"]
  %".74" = icmp slt i64 %"i.3", %".66"
  br i1 %".74", label %"body.3", label %"done.3"
body.3:
  br label %"loop.4"
done.3:
  br label %"end"
loop.4:
  %"i.4" = phi  i64 [%".69", %"body.3"], [%".89", %"body.4"]
  %".77" = icmp slt i64 %"i.4", %".72"
  br i1 %".77", label %"body.4", label %"done.4"
body.4:
  %".79" = add i64 %".36", %"i.3"
  %".80" = add i64 %".37", %"i.4"
  %".81" = mul i64 %".79", 16
  %".82" = add i64 %".81", %".80"
  %".83" = getelementptr inbounds float, ptr %".17", i64 %".82"
  %".84" = load float, ptr %".83", align 4
  %".85" = mul i64 %"i.3", 8
  %".86" = add i64 %".85", %"i.4"
  %".87" = getelementptr inbounds float, ptr %".44", i64 %".86"
  store float %".84", ptr %".87", align 4
  %".89" = add i64 %"i.4", 1
  br label %"loop.4"
done.4:
  %".91" = add i64 %"i.3", 1
  br label %"loop.3"
then.1:
  br label %"loop.5"
end.1:
  %".157" = select  i1 %".105", ptr %".108", ptr %".109"
  %".158" = select  i1 %".105", i64 12, i64 6
  %".159" = trunc i64 %".14" to i32
  %".160" = trunc i64 %".12" to i32
  %".161" = trunc i64 %"i" to i32
  %".162" = sext i32 %".159" to i64
  %".163" = sext i32 %".160" to i64
  %".164" = mul i64 %".162", 4
  %".165" = mul i64 %".163", 6
  %".166" = icmp ule i64 %".164", 4
  %".167" = icmp ule i64 %".165", 6
  %".168" = and i1 %".166", %".167"
  %".169" = mul i64 %".164", 12
  %".170" = add i64 %".169", %".165"
  %".171" = getelementptr float, ptr %".21", i64 %".170"
  %".172" = getelementptr i8, ptr %".3", i64 320
  %".173" = xor i1 %".168", -1
  br i1 %".173", label %"then.2", label %"end.2"
loop.5:
  %"i.5" = phi  i64 [0, %"then.1"], [%".122", %"body.5"]
  %".113" = icmp slt i64 %"i.5", 8
  br i1 %".113", label %"body.5", label %"done.5"
body.5:
  %".115" = mul i64 %"i.5", 6
  %".116" = getelementptr inbounds float, ptr %".109", i64 %".115"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".116", align 4
  %".118" = mul i64 %"i.5", 6
  %".119" = add i64 %".118", 4
  %".120" = getelementptr inbounds float, ptr %".109", i64 %".119"
  store <2 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".120", align 4
  %".122" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  %".124" = icmp slt i64 %".101", 0
  %".125" = sub i64 0, %".101"
  %".126" = select  i1 %".124", i64 %".125", i64 0
  %".127" = sub i64 16, %".101"
  %".128" = icmp slt i64 %".127", 8
  %".129" = select  i1 %".128", i64 %".127", i64 8
  %".130" = icmp slt i64 %".102", 0
  %".131" = sub i64 0, %".102"
  %".132" = select  i1 %".130", i64 %".131", i64 0
  %".133" = sub i64 12, %".102"
  %".134" = icmp slt i64 %".133", 6
  %".135" = select  i1 %".134", i64 %".133", i64 6
  br label %"loop.6"
loop.6:
  %"i.6" = phi  i64 [%".126", %"done.5"], [%".154", %"done.7"]
  %".137" = icmp slt i64 %"i.6", %".129"
  br i1 %".137", label %"body.6", label %"done.6"
body.6:
  br label %"loop.7"
done.6:
  br label %"end.1"
loop.7:
  %"i.7" = phi  i64 [%".132", %"body.6"], [%".152", %"body.7"]
  %".140" = icmp slt i64 %"i.7", %".135"
  br i1 %".140", label %"body.7", label %"done.7"
body.7:
  %".142" = add i64 %".101", %"i.6"
  %".143" = add i64 %".102", %"i.7"
  %".144" = mul i64 %".142", 12
  %".145" = add i64 %".144", %".143"
  %".146" = getelementptr inbounds float, ptr %".19", i64 %".145"
  %".147" = load float, ptr %".146", align 4
  %".148" = mul i64 %"i.6", 6
  %".149" = add i64 %".148", %"i.7"
  %".150" = getelementptr inbounds float, ptr %".109", i64 %".149"
  store float %".147", ptr %".150", align 4
  %".152" = add i64 %"i.7", 1
  br label %"loop.7"
done.7:
  %".154" = add i64 %"i.6", 1
  br label %"loop.6"
then.2:
  br label %"loop.8"
end.2:
  %".220" = select  i1 %".168", ptr %".171", ptr %".172"
  %".221" = select  i1 %".168", i64 12, i64 6
  %".222" = icmp eq i32 %".27", 0
  %".223" = zext i1 %".222" to i32
  %".224" = sext i32 %".223" to i64
  %".225" = icmp slt i64 %".224", 0
  %".226" = select  i1 %".225", i64 0, i64 %".224"
  switch i64 %".226", label %"case.1" [i64 0, label %"case.0"]
loop.8:
  %"i.8" = phi  i64 [0, %"then.2"], [%".185", %"body.8"]
  %".176" = icmp slt i64 %"i.8", 4
  br i1 %".176", label %"body.8", label %"done.8"
body.8:
  %".178" = mul i64 %"i.8", 6
  %".179" = getelementptr inbounds float, ptr %".172", i64 %".178"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".179", align 4
  %".181" = mul i64 %"i.8", 6
  %".182" = add i64 %".181", 4
  %".183" = getelementptr inbounds float, ptr %".172", i64 %".182"
  store <2 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".183", align 4
  %".185" = add i64 %"i.8", 1
  br label %"loop.8"
done.8:
  %".187" = icmp slt i64 %".164", 0
  %".188" = sub i64 0, %".164"
  %".189" = select  i1 %".187", i64 %".188", i64 0
  %".190" = sub i64 8, %".164"
  %".191" = icmp slt i64 %".190", 4
  %".192" = select  i1 %".191", i64 %".190", i64 4
  %".193" = icmp slt i64 %".165", 0
  %".194" = sub i64 0, %".165"
  %".195" = select  i1 %".193", i64 %".194", i64 0
  %".196" = sub i64 12, %".165"
  %".197" = icmp slt i64 %".196", 6
  %".198" = select  i1 %".197", i64 %".196", i64 6
  br label %"loop.9"
loop.9:
  %"i.9" = phi  i64 [%".189", %"done.8"], [%".217", %"done.10"]
  %".200" = icmp slt i64 %"i.9", %".192"
  br i1 %".200", label %"body.9", label %"done.9"
body.9:
  br label %"loop.10"
done.9:
  br label %"end.2"
loop.10:
  %"i.10" = phi  i64 [%".195", %"body.9"], [%".215", %"body.10"]
  %".203" = icmp slt i64 %"i.10", %".198"
  br i1 %".203", label %"body.10", label %"done.10"
body.10:
  %".205" = add i64 %".164", %"i.9"
  %".206" = add i64 %".165", %"i.10"
  %".207" = mul i64 %".205", 12
  %".208" = add i64 %".207", %".206"
  %".209" = getelementptr inbounds float, ptr %".21", i64 %".208"
  %".210" = load float, ptr %".209", align 4
  %".211" = mul i64 %"i.9", 6
  %".212" = add i64 %".211", %"i.10"
  %".213" = getelementptr inbounds float, ptr %".172", i64 %".212"
  store float %".210", ptr %".213", align 4
  %".215" = add i64 %"i.10", 1
  br label %"loop.10"
done.10:
  %".217" = add i64 %"i.9", 1
  br label %"loop.9"
switch.done:
  %".246" = getelementptr i8, ptr %".3", i64 448
  br label %"loop.12"
case.0:
  br label %"switch.done"
case.1:
  br label %"loop.11"
loop.11:
  %"i.11" = phi  i64 [0, %"case.1"], [%".243", %"body.11"]
  %".230" = icmp slt i64 %"i.11", 4
  br i1 %".230", label %"body.11", label %"done.11"
body.11:
  %".232" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".233" = shufflevector <4 x float> %".232", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".234" = mul i64 %"i.11", %".221"
  %".235" = getelementptr inbounds float, ptr %".220", i64 %".234"
  store <4 x float> %".233", ptr %".235", align 4
  %".237" = insertelement <2 x float> <float undef, float undef>, float              0x0, i32 0
  %".238" = shufflevector <2 x float> %".237", <2 x float> <float undef, float undef>, <2 x i32> <i32 0, i32 0>
  %".239" = mul i64 %"i.11", %".221"
  %".240" = add i64 %".239", 4
  %".241" = getelementptr inbounds float, ptr %".220", i64 %".240"
  store <2 x float> %".238", ptr %".241", align 4
  %".243" = add i64 %"i.11", 1
  br label %"loop.11"
done.11:
  br label %"switch.done"
loop.12:
  %"i.12" = phi  i64 [0, %"switch.done"], [%".383", %"k.done"]
  %".248" = icmp slt i64 %"i.12", 6
  br i1 %".248", label %"body.12", label %"done.12"
body.12:
  %".250" = getelementptr inbounds float, ptr %".220", i64 %"i.12"
  %".251" = load <4 x float>, ptr %".250", align 4
  %".252" = add i64 %"i.12", 4
  %".253" = getelementptr inbounds float, ptr %".220", i64 %".252"
  %".254" = load <2 x float>, ptr %".253", align 4
  %".255" = shufflevector <2 x float> %".254", <2 x float> <float              0x0, float              0x0>, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".256" = add i64 %".221", %"i.12"
  %".257" = getelementptr inbounds float, ptr %".220", i64 %".256"
  %".258" = load <4 x float>, ptr %".257", align 4
  %".259" = add i64 %"i.12", 4
  %".260" = add i64 %".221", %".259"
  %".261" = getelementptr inbounds float, ptr %".220", i64 %".260"
  %".262" = load <2 x float>, ptr %".261", align 4
  %".263" = shufflevector <2 x float> %".262", <2 x float> <float              0x0, float              0x0>, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".264" = mul i64 2, %".221"
  %".265" = add i64 %".264", %"i.12"
  %".266" = getelementptr inbounds float, ptr %".220", i64 %".265"
  %".267" = load <4 x float>, ptr %".266", align 4
  %".268" = add i64 %"i.12", 4
  %".269" = mul i64 2, %".221"
  %".270" = add i64 %".269", %".268"
  %".271" = getelementptr inbounds float, ptr %".220", i64 %".270"
  %".272" = load <2 x float>, ptr %".271", align 4
  %".273" = shufflevector <2 x float> %".272", <2 x float> <float              0x0, float              0x0>, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".274" = mul i64 3, %".221"
  %".275" = add i64 %".274", %"i.12"
  %".276" = getelementptr inbounds float, ptr %".220", i64 %".275"
  %".277" = load <4 x float>, ptr %".276", align 4
  %".278" = add i64 %"i.12", 4
  %".279" = mul i64 3, %".221"
  %".280" = add i64 %".279", %".278"
  %".281" = getelementptr inbounds float, ptr %".220", i64 %".280"
  %".282" = load <2 x float>, ptr %".281", align 4
  %".283" = shufflevector <2 x float> %".282", <2 x float> <float              0x0, float              0x0>, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  br label %"k"
done.12:
  br i1 %".173", label %"then.3", label %"end.3"
k:
  %".285" = phi  i64 [0, %"body.12"], [%".347", %"k.body"]
  %".286" = phi  <4 x float> [%".251", %"body.12"], [%".322", %"k.body"]
  %".287" = phi  <4 x float> [%".255", %"body.12"], [%".323", %"k.body"]
  %".288" = phi  <4 x float> [%".258", %"body.12"], [%".329", %"k.body"]
  %".289" = phi  <4 x float> [%".263", %"body.12"], [%".330", %"k.body"]
  %".290" = phi  <4 x float> [%".267", %"body.12"], [%".337", %"k.body"]
  %".291" = phi  <4 x float> [%".273", %"body.12"], [%".338", %"k.body"]
  %".292" = phi  <4 x float> [%".277", %"body.12"], [%".345", %"k.body"]
  %".293" = phi  <4 x float> [%".283", %"body.12"], [%".346", %"k.body"]
  %".294" = icmp slt i64 %".285", 8
  br i1 %".294", label %"k.body", label %"k.done"
k.body:
  %".296" = add i64 %".285", 32
  %".297" = icmp slt i64 %".296", 7
  %".298" = select  i1 %".297", i64 %".296", i64 7
  %".299" = mul i64 %".298", %".158"
  %".300" = add i64 %".299", %"i.12"
  %".301" = getelementptr inbounds float, ptr %".157", i64 %".300"
  call void @"llvm.prefetch.p0"(ptr %".301", i32 0, i32 3, i32 1)
  %".303" = add i64 %"i.12", 4
  %".304" = mul i64 %".298", %".158"
  %".305" = add i64 %".304", %".303"
  %".306" = getelementptr inbounds float, ptr %".157", i64 %".305"
  call void @"llvm.prefetch.p0"(ptr %".306", i32 0, i32 3, i32 1)
  %".308" = mul i64 %".285", %".158"
  %".309" = add i64 %".308", %"i.12"
  %".310" = getelementptr inbounds float, ptr %".157", i64 %".309"
  %".311" = load <4 x float>, ptr %".310", align 4
  %".312" = add i64 %"i.12", 4
  %".313" = mul i64 %".285", %".158"
  %".314" = add i64 %".313", %".312"
  %".315" = getelementptr inbounds float, ptr %".157", i64 %".314"
  %".316" = load <2 x float>, ptr %".315", align 4
  %".317" = shufflevector <2 x float> %".316", <2 x float> <float              0x0, float              0x0>, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".318" = getelementptr inbounds float, ptr %".94", i64 %".285"
  %".319" = load float, ptr %".318", align 4
  %".320" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".319", i32 0
  %".321" = shufflevector <4 x float> %".320", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".322" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".321", <4 x float> %".311", <4 x float> %".286")
  %".323" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".321", <4 x float> %".317", <4 x float> %".287")
  %".324" = add i64 %".95", %".285"
  %".325" = getelementptr inbounds float, ptr %".94", i64 %".324"
  %".326" = load float, ptr %".325", align 4
  %".327" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".326", i32 0
  %".328" = shufflevector <4 x float> %".327", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".329" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".328", <4 x float> %".311", <4 x float> %".288")
  %".330" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".328", <4 x float> %".317", <4 x float> %".289")
  %".331" = mul i64 2, %".95"
  %".332" = add i64 %".331", %".285"
  %".333" = getelementptr inbounds float, ptr %".94", i64 %".332"
  %".334" = load float, ptr %".333", align 4
  %".335" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".334", i32 0
  %".336" = shufflevector <4 x float> %".335", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".337" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".336", <4 x float> %".311", <4 x float> %".290")
  %".338" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".336", <4 x float> %".317", <4 x float> %".291")
  %".339" = mul i64 3, %".95"
  %".340" = add i64 %".339", %".285"
  %".341" = getelementptr inbounds float, ptr %".94", i64 %".340"
  %".342" = load float, ptr %".341", align 4
  %".343" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".342", i32 0
  %".344" = shufflevector <4 x float> %".343", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".345" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".344", <4 x float> %".311", <4 x float> %".292")
  %".346" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".344", <4 x float> %".317", <4 x float> %".293")
  %".347" = add i64 %".285", 1
  br label %"k"
k.done:
  %".349" = getelementptr inbounds float, ptr %".220", i64 %"i.12"
  store <4 x float> %".286", ptr %".349", align 4
  %".351" = shufflevector <4 x float> %".287", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".352" = add i64 %"i.12", 4
  %".353" = getelementptr inbounds float, ptr %".220", i64 %".352"
  store <2 x float> %".351", ptr %".353", align 4
  %".355" = add i64 %".221", %"i.12"
  %".356" = getelementptr inbounds float, ptr %".220", i64 %".355"
  store <4 x float> %".288", ptr %".356", align 4
  %".358" = shufflevector <4 x float> %".289", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".359" = add i64 %"i.12", 4
  %".360" = add i64 %".221", %".359"
  %".361" = getelementptr inbounds float, ptr %".220", i64 %".360"
  store <2 x float> %".358", ptr %".361", align 4
  %".363" = mul i64 2, %".221"
  %".364" = add i64 %".363", %"i.12"
  %".365" = getelementptr inbounds float, ptr %".220", i64 %".364"
  store <4 x float> %".290", ptr %".365", align 4
  %".367" = shufflevector <4 x float> %".291", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".368" = add i64 %"i.12", 4
  %".369" = mul i64 2, %".221"
  %".370" = add i64 %".369", %".368"
  %".371" = getelementptr inbounds float, ptr %".220", i64 %".370"
  store <2 x float> %".367", ptr %".371", align 4
  %".373" = mul i64 3, %".221"
  %".374" = add i64 %".373", %"i.12"
  %".375" = getelementptr inbounds float, ptr %".220", i64 %".374"
  store <4 x float> %".292", ptr %".375", align 4
  %".377" = shufflevector <4 x float> %".293", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".378" = add i64 %"i.12", 4
  %".379" = mul i64 3, %".221"
  %".380" = add i64 %".379", %".378"
  %".381" = getelementptr inbounds float, ptr %".220", i64 %".380"
  store <2 x float> %".377", ptr %".381", align 4
  %".383" = add i64 %"i.12", 6
  br label %"loop.12"
then.3:
  %".386" = icmp slt i64 %".164", 0
  %".387" = sub i64 0, %".164"
  %".388" = select  i1 %".386", i64 %".387", i64 0
  %".389" = sub i64 8, %".164"
  %".390" = icmp slt i64 %".389", 4
  %".391" = select  i1 %".390", i64 %".389", i64 4
  %".392" = icmp slt i64 %".165", 0
  %".393" = sub i64 0, %".165"
  %".394" = select  i1 %".392", i64 %".393", i64 0
  %".395" = sub i64 12, %".165"
  %".396" = icmp slt i64 %".395", 6
  %".397" = select  i1 %".396", i64 %".395", i64 6
  br label %"loop.13"
end.3:
  %".419" = add i64 %"i", 1
  br label %"loop"
loop.13:
  %"i.13" = phi  i64 [%".388", %"then.3"], [%".416", %"done.14"]
  %".399" = icmp slt i64 %"i.13", %".391"
  br i1 %".399", label %"body.13", label %"done.13"
body.13:
  br label %"loop.14"
done.13:
  br label %"end.3"
loop.14:
  %"i.14" = phi  i64 [%".394", %"body.13"], [%".414", %"body.14"]
  %".402" = icmp slt i64 %"i.14", %".397"
  br i1 %".402", label %"body.14", label %"done.14"
body.14:
  %".404" = add i64 %".164", %"i.13"
  %".405" = add i64 %".165", %"i.14"
  %".406" = mul i64 %"i.13", 6
  %".407" = add i64 %".406", %"i.14"
  %".408" = getelementptr inbounds float, ptr %".172", i64 %".407"
  %".409" = load float, ptr %".408", align 4
  %".410" = mul i64 %".404", 12
  %".411" = add i64 %".410", %".405"
  %".412" = getelementptr inbounds float, ptr %".21", i64 %".411"
  store float %".409", ptr %".412", align 4
  %".414" = add i64 %"i.14", 1
  br label %"loop.14"
done.14:
  %".416" = add i64 %"i.13", 1
  br label %"loop.13"
}
