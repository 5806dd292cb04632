; x86-64-v4
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
  %"i" = phi  i64 [0, %"start"], [%".347", %"end.3"]
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
  %".88" = select  i1 %".40", ptr %".43", ptr %".44"
  %".89" = select  i1 %".40", i64 16, i64 8
  %".90" = trunc i64 %".14" to i32
  %".91" = trunc i64 %".12" to i32
  %".92" = trunc i64 %"i" to i32
  %".93" = sext i32 %".92" to i64
  %".94" = sext i32 %".91" to i64
  %".95" = mul i64 %".93", 8
  %".96" = mul i64 %".94", 6
  %".97" = icmp ule i64 %".95", 8
  %".98" = icmp ule i64 %".96", 6
  %".99" = and i1 %".97", %".98"
  %".100" = mul i64 %".95", 12
  %".101" = add i64 %".100", %".96"
  %".102" = getelementptr float, ptr %".19", i64 %".101"
  %".103" = getelementptr i8, ptr %".3", i64 128
  %".104" = xor i1 %".99", -1
  br i1 %".104", label %"then.1", label %"end.1"
loop.1:
  %"i.1" = phi  i64 [0, %"then"], [%".53", %"body.1"]
  %".48" = icmp slt i64 %"i.1", 4
  br i1 %".48", label %"body.1", label %"done.1"
body.1:
  %".50" = mul i64 %"i.1", 8
  %".51" = getelementptr inbounds float, ptr %".44", i64 %".50"
  store <8 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".51", align 4
  %".53" = add i64 %"i.1", 1
  br label %"loop.1"
done.1:
  %".55" = icmp slt i64 %".36", 0
  %".56" = sub i64 0, %".36"
  %".57" = select  i1 %".55", i64 %".56", i64 0
  %".58" = sub i64 8, %".36"
  %".59" = icmp slt i64 %".58", 4
  %".60" = select  i1 %".59", i64 %".58", i64 4
  %".61" = icmp slt i64 %".37", 0
  %".62" = sub i64 0, %".37"
  %".63" = select  i1 %".61", i64 %".62", i64 0
  %".64" = sub i64 16, %".37"
  %".65" = icmp slt i64 %".64", 8
  %".66" = select  i1 %".65", i64 %".64", i64 8
  br label %"loop.2"
loop.2:
  %"i.2" = phi  i64 [%".57", %"done.1"], [%".85", %"done.3"]
  %".68" = icmp slt i64 %"i.2", %".60"
  br i1 %".68", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".63", %"body.2"], [%".83", %"body.3"]
  %".71" = icmp slt i64 %"i.3", %".66"
  br i1 %".71", label %"body.3", label %"done.3"
body.3:
  %".73" = add i64 %".36", %"i.2"
  %".74" = add i64 %".37", %"i.3"
  %".75" = mul i64 %".73", 16
  %".76" = add i64 %".75", %".74"
  %".77" = getelementptr inbounds float, ptr %".17", i64 %".76"
  %".78" = load float, ptr %".77", align 4
  %".79" = mul i64 %"i.2", 8
  %".80" = add i64 %".79", %"i.3"
  %".81" = getelementptr inbounds float, ptr %".44", i64 %".80"
  store float %".78", ptr %".81", align 4
  %".83" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".85" = add i64 %"i.2", 1
  br label %"loop.2"
then.1:
  br label %"loop.4"
end.1:
  %".147" = select  i1 %".99", ptr %".102", ptr %".103"
  %".148" = select  i1 %".99", i64 12, i64 6
  %".149" = trunc i64 %".14" to i32
  %".150" = trunc i64 %".12" to i32
  %".151" = trunc i64 %"i" to i32
  %".152" = sext i32 %".149" to i64
  %".153" = sext i32 %".150" to i64
  %".154" = mul i64 %".152", 4
  %".155" = mul i64 %".153", 6
  %".156" = icmp ule i64 %".154", 4
  %".157" = icmp ule i64 %".155", 6
  %".158" = and i1 %".156", %".157"
  %".159" = mul i64 %".154", 12
  %".160" = add i64 %".159", %".155"
  %".161" = getelementptr float, ptr %".21", i64 %".160"
  %".162" = getelementptr i8, ptr %".3", i64 320
  %".163" = xor i1 %".158", -1
  br i1 %".163", label %"then.2", label %"end.2"
loop.4:
  %"i.4" = phi  i64 [0, %"then.1"], [%".112", %"body.4"]
  %".107" = icmp slt i64 %"i.4", 8
  br i1 %".107", label %"body.4", label %"done.4"
body.4:
  %".109" = mul i64 %"i.4", 6
  %".110" = getelementptr inbounds float, ptr %".103", i64 %".109"
  store <6 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".110", align 4
  %".112" = add i64 %"i.4", 1
  br label %"loop.4"
done.4:
  %".114" = icmp slt i64 %".95", 0
  %".115" = sub i64 0, %".95"
  %".116" = select  i1 %".114", i64 %".115", i64 0
  %".117" = sub i64 16, %".95"
  %".118" = icmp slt i64 %".117", 8
  %".119" = select  i1 %".118", i64 %".117", i64 8
  %".120" = icmp slt i64 %".96", 0
  %".121" = sub i64 0, %".96"
  %".122" = select  i1 %".120", i64 %".121", i64 0
  %".123" = sub i64 12, %".96"
  %".124" = icmp slt i64 %".123", 6
  %".125" = select  i1 %".124", i64 %".123", i64 6
  br label %"loop.5"
loop.5:
  %"i.5" = phi  i64 [%".116", %"done.4"], [%".144", %"done.6"]
  %".127" = icmp slt i64 %"i.5", %".119"
  br i1 %".127", label %"body.5", label %"done.5"
body.5:
  br label %"loop.6"
done.5:
  br label %"end.1"
loop.6:
  %"i.6" = phi  i64 [%".122", %"body.5"], [%".142", %"body.6"]
  %".130" = icmp slt i64 %"i.6", %".125"
  br i1 %".130", label %"body.6", label %"done.6"
body.6:
  %".132" = add i64 %".95", %"i.5"
  %".133" = add i64 %".96", %"i.6"
  %".134" = mul i64 %".132", 12
  %".135" = add i64 %".134", %".133"
  %".136" = getelementptr inbounds float, ptr %".19", i64 %".135"
  %".137" = load float, ptr %".136", align 4
  %".138" = mul i64 %"i.5", 6
  %".139" = add i64 %".138", %"i.6"
  %".140" = getelementptr inbounds float, ptr %".103", i64 %".139"
  store float %".137", ptr %".140", align 4
  %".142" = add i64 %"i.6", 1
  br label %"loop.6"
done.6:
  %".144" = add i64 %"i.5", 1
  br label %"loop.5"
then.2:
  br label %"loop.7"
end.2:
  %".206" = select  i1 %".158", ptr %".161", ptr %".162"
  %".207" = select  i1 %".158", i64 12, i64 6
  %".208" = icmp eq i32 %".27", 0
  %".209" = zext i1 %".208" to i32
  %".210" = sext i32 %".209" to i64
  %".211" = icmp slt i64 %".210", 0
  %".212" = select  i1 %".211", i64 0, i64 %".210"
  switch i64 %".212", label %"case.1" [i64 0, label %"case.0"]
loop.7:
  %"i.7" = phi  i64 [0, %"then.2"], [%".171", %"body.7"]
  %".166" = icmp slt i64 %"i.7", 4
  br i1 %".166", label %"body.7", label %"done.7"
body.7:
  %".168" = mul i64 %"i.7", 6
  %".169" = getelementptr inbounds float, ptr %".162", i64 %".168"
  store <6 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".169", align 4
  %".171" = add i64 %"i.7", 1
  br label %"loop.7"
done.7:
  %".173" = icmp slt i64 %".154", 0
  %".174" = sub i64 0, %".154"
  %".175" = select  i1 %".173", i64 %".174", i64 0
  %".176" = sub i64 8, %".154"
  %".177" = icmp slt i64 %".176", 4
  %".178" = select  i1 %".177", i64 %".176", i64 4
  %".179" = icmp slt i64 %".155", 0
  %".180" = sub i64 0, %".155"
  %".181" = select  i1 %".179", i64 %".180", i64 0
  %".182" = sub i64 12, %".155"
  %".183" = icmp slt i64 %".182", 6
  %".184" = select  i1 %".183", i64 %".182", i64 6
  br label %"loop.8"
loop.8:
  %"i.8" = phi  i64 [%".175", %"done.7"], [%".203", %"done.9"]
  %".186" = icmp slt i64 %"i.8", %".178"
  br i1 %".186", label %"body.8", label %"done.8"
body.8:
  br label %"loop.9"
done.8:
  br label %"end.2"
loop.9:
  %"i.9" = phi  i64 [%".181", %"body.8"], [%".201", %"body.9"]
  %".189" = icmp slt i64 %"i.9", %".184"
  br i1 %".189", label %"body.9", label %"done.9"
body.9:
  %".191" = add i64 %".154", %"i.8"
  %".192" = add i64 %".155", %"i.9"
  %".193" = mul i64 %".191", 12
  %".194" = add i64 %".193", %".192"
  %".195" = getelementptr inbounds float, ptr %".21", i64 %".194"
  %".196" = load float, ptr %".195", align 4
  %".197" = mul i64 %"i.8", 6
  %".198" = add i64 %".197", %"i.9"
  %".199" = getelementptr inbounds float, ptr %".162", i64 %".198"
  store float %".196", ptr %".199", align 4
  %".201" = add i64 %"i.9", 1
  br label %"loop.9"
done.9:
  %".203" = add i64 %"i.8", 1
  br label %"loop.8"
switch.done:
  %".226" = getelementptr i8, ptr %".3", i64 448
  br label %"loop.11"
case.0:
  br label %"switch.done"
case.1:
  br label %"loop.10"
loop.10:
  %"i.10" = phi  i64 [0, %"case.1"], [%".223", %"body.10"]
  %".216" = icmp slt i64 %"i.10", 4
  br i1 %".216", label %"body.10", label %"done.10"
body.10:
  %".218" = insertelement <6 x float> <float undef, float undef, float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".219" = shufflevector <6 x float> %".218", <6 x float> <float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".220" = mul i64 %"i.10", %".207"
  %".221" = getelementptr inbounds float, ptr %".206", i64 %".220"
  store <6 x float> %".219", ptr %".221", align 4
  %".223" = add i64 %"i.10", 1
  br label %"loop.10"
done.10:
  br label %"switch.done"
loop.11:
  %"i.11" = phi  i64 [0, %"switch.done"], [%".311", %"k.done"]
  %".228" = icmp slt i64 %"i.11", 6
  br i1 %".228", label %"body.11", label %"done.11"
body.11:
  %".230" = getelementptr inbounds float, ptr %".206", i64 %"i.11"
  %".231" = load <6 x float>, ptr %".230", align 4
  %".232" = shufflevector <6 x float> %".231", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".233" = add i64 %".207", %"i.11"
  %".234" = getelementptr inbounds float, ptr %".206", i64 %".233"
  %".235" = load <6 x float>, ptr %".234", align 4
  %".236" = shufflevector <6 x float> %".235", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".237" = mul i64 2, %".207"
  %".238" = add i64 %".237", %"i.11"
  %".239" = getelementptr inbounds float, ptr %".206", i64 %".238"
  %".240" = load <6 x float>, ptr %".239", align 4
  %".241" = shufflevector <6 x float> %".240", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".242" = mul i64 3, %".207"
  %".243" = add i64 %".242", %"i.11"
  %".244" = getelementptr inbounds float, ptr %".206", i64 %".243"
  %".245" = load <6 x float>, ptr %".244", align 4
  %".246" = shufflevector <6 x float> %".245", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  br label %"k"
done.11:
  br i1 %".163", label %"then.3", label %"end.3"
k:
  %".248" = phi  i64 [0, %"body.11"], [%".292", %"k.body"]
  %".249" = phi  <16 x float> [%".232", %"body.11"], [%".271", %"k.body"]
  %".250" = phi  <16 x float> [%".236", %"body.11"], [%".277", %"k.body"]
  %".251" = phi  <16 x float> [%".241", %"body.11"], [%".284", %"k.body"]
  %".252" = phi  <16 x float> [%".246", %"body.11"], [%".291", %"k.body"]
  %".253" = icmp slt i64 %".248", 8
  br i1 %".253", label %"k.body", label %"k.done"
k.body:
  %".255" = add i64 %".248", 32
  %".256" = icmp slt i64 %".255", 7
  %".257" = select  i1 %".256", i64 %".255", i64 7
  %".258" = mul i64 %".257", %".148"
  %".259" = add i64 %".258", %"i.11"
  %".260" = getelementptr inbounds float, ptr %".147", i64 %".259"
  call void @"llvm.prefetch.p0"(ptr %".260", i32 0, i32 3, i32 1)
  %".262" = mul i64 %".248", %".148"
  %".263" = add i64 %".262", %"i.11"
  %".264" = getelementptr inbounds float, ptr %".147", i64 %".263"
  %".265" = load <6 x float>, ptr %".264", align 4
  %".266" = shufflevector <6 x float> %".265", <6 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6, i32 6>
  %".267" = getelementptr inbounds float, ptr %".88", i64 %".248"
  %".268" = load float, ptr %".267", align 4
  %".269" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".268", i32 0
  %".270" = shufflevector <16 x float> %".269", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".271" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".270", <16 x float> %".266", <16 x float> %".249")
  %".272" = add i64 %".89", %".248"
  %".273" = getelementptr inbounds float, ptr %".88", i64 %".272"
  %".274" = load float, ptr %".273", align 4
  %".275" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".274", i32 0
  %".276" = shufflevector <16 x float> %".275", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".277" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".276", <16 x float> %".266", <16 x float> %".250")
  %".278" = mul i64 2, %".89"
  %".279" = add i64 %".278", %".248"
  %".280" = getelementptr inbounds float, ptr %".88", i64 %".279"
  %".281" = load float, ptr %".280", align 4
  %".282" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".281", i32 0
  %".283" = shufflevector <16 x float> %".282", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".284" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".283", <16 x float> %".266", <16 x float> %".251")
  %".285" = mul i64 3, %".89"
  %".286" = add i64 %".285", %".248"
  %".287" = getelementptr inbounds float, ptr %".88", i64 %".286"
  %".288" = load float, ptr %".287", align 4
  %".289" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".288", i32 0
  %".290" = shufflevector <16 x float> %".289", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".291" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".290", <16 x float> %".266", <16 x float> %".252")
  %".292" = add i64 %".248", 1
  br label %"k"
k.done:
  %".294" = shufflevector <16 x float> %".249", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".295" = getelementptr inbounds float, ptr %".206", i64 %"i.11"
  store <6 x float> %".294", ptr %".295", align 4
  %".297" = shufflevector <16 x float> %".250", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".298" = add i64 %".207", %"i.11"
  %".299" = getelementptr inbounds float, ptr %".206", i64 %".298"
  store <6 x float> %".297", ptr %".299", align 4
  %".301" = shufflevector <16 x float> %".251", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".302" = mul i64 2, %".207"
  %".303" = add i64 %".302", %"i.11"
  %".304" = getelementptr inbounds float, ptr %".206", i64 %".303"
  store <6 x float> %".301", ptr %".304", align 4
  %".306" = shufflevector <16 x float> %".252", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <6 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5>
  %".307" = mul i64 3, %".207"
  %".308" = add i64 %".307", %"i.11"
  %".309" = getelementptr inbounds float, ptr %".206", i64 %".308"
  store <6 x float> %".306", ptr %".309", align 4
  %".311" = add i64 %"i.11", 6
  br label %"loop.11"
then.3:
  %".314" = icmp slt i64 %".154", 0
  %".315" = sub i64 0, %".154"
  %".316" = select  i1 %".314", i64 %".315", i64 0
  %".317" = sub i64 8, %".154"
  %".318" = icmp slt i64 %".317", 4
  %".319" = select  i1 %".318", i64 %".317", i64 4
  %".320" = icmp slt i64 %".155", 0
  %".321" = sub i64 0, %".155"
  %".322" = select  i1 %".320", i64 %".321", i64 0
  %".323" = sub i64 12, %".155"
  %".324" = icmp slt i64 %".323", 6
  %".325" = select  i1 %".324", i64 %".323", i64 6
  br label %"loop.12"
end.3:
  %".347" = add i64 %"i", 1
  br label %"loop"
loop.12:
  %"i.12" = phi  i64 [%".316", %"then.3"], [%".344", %"done.13"]
  %".327" = icmp slt i64 %"i.12", %".319"
  br i1 %".327", label %"body.12", label %"done.12"
body.12:
  br label %"loop.13"
done.12:
  br label %"end.3"
loop.13:
  %"i.13" = phi  i64 [%".322", %"body.12"], [%".342", %"body.13"]
  %".330" = icmp slt i64 %"i.13", %".325"
  br i1 %".330", label %"body.13", label %"done.13"
body.13:
  %".332" = add i64 %".154", %"i.12"
  %".333" = add i64 %".155", %"i.13"
  %".334" = mul i64 %"i.12", 6
  %".335" = add i64 %".334", %"i.13"
  %".336" = getelementptr inbounds float, ptr %".162", i64 %".335"
  %".337" = load float, ptr %".336", align 4
  %".338" = mul i64 %".332", 12
  %".339" = add i64 %".338", %".333"
  %".340" = getelementptr inbounds float, ptr %".21", i64 %".339"
  store float %".337", ptr %".340", align 4
  %".342" = add i64 %"i.13", 1
  br label %"loop.13"
done.13:
  %".344" = add i64 %"i.12", 1
  br label %"loop.12"
}
