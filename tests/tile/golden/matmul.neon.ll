; neon
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".1", i64 -1
  %".7" = getelementptr i64, ptr %".2", i64 0
  %".8" = load i64, ptr %".7"
  %".9" = getelementptr i64, ptr %".2", i64 1
  %".10" = load i64, ptr %".9"
  %".11" = getelementptr i64, ptr %".2", i64 2
  %".12" = load i64, ptr %".11"
  %".13" = urem i64 %".4", %".10"
  %".14" = udiv i64 %".4", %".10"
  %".15" = urem i64 %".14", %".8"
  %".16" = udiv i64 %".14", %".8"
  %".17" = getelementptr ptr, ptr %".1", i64 0
  %".18" = load ptr, ptr %".17"
  %".19" = getelementptr ptr, ptr %".1", i64 1
  %".20" = load ptr, ptr %".19"
  %".21" = getelementptr ptr, ptr %".1", i64 2
  %".22" = load ptr, ptr %".21"
  br label %"loop"
loop:
  %"i" = phi  i64 [0, %"start"], [%".415", %"end.3"]
  %".24" = icmp slt i64 %"i", %".12"
  br i1 %".24", label %"body", label %"done"
body:
  %".26" = trunc i64 %".15" to i32
  %".27" = trunc i64 %".13" to i32
  %".28" = trunc i64 %"i" to i32
  %".29" = trunc i64 %".8" to i32
  %".30" = trunc i64 %".10" to i32
  %".31" = trunc i64 %".12" to i32
  %".32" = trunc i64 %".15" to i32
  %".33" = trunc i64 %".13" to i32
  %".34" = trunc i64 %"i" to i32
  %".35" = sext i32 %".32" to i64
  %".36" = sext i32 %".34" to i64
  %".37" = mul i64 %".35", 4
  %".38" = mul i64 %".36", 8
  %".39" = icmp ule i64 %".37", 4
  %".40" = icmp ule i64 %".38", 8
  %".41" = and i1 %".39", %".40"
  %".42" = mul i64 %".37", 16
  %".43" = add i64 %".42", %".38"
  %".44" = getelementptr float, ptr %".18", i64 %".43"
  %".45" = getelementptr i8, ptr %".3", i64 0
  %".46" = xor i1 %".41", -1
  br i1 %".46", label %"then", label %"end"
done:
  ret void
then:
  br label %"loop.1"
end:
  %".95" = select  i1 %".41", ptr %".44", ptr %".45"
  %".96" = select  i1 %".41", i64 16, i64 8
  %".97" = trunc i64 %".15" to i32
  %".98" = trunc i64 %".13" to i32
  %".99" = trunc i64 %"i" to i32
  %".100" = sext i32 %".99" to i64
  %".101" = sext i32 %".98" to i64
  %".102" = mul i64 %".100", 8
  %".103" = mul i64 %".101", 6
  %".104" = icmp ule i64 %".102", 8
  %".105" = icmp ule i64 %".103", 6
  %".106" = and i1 %".104", %".105"
  %".107" = mul i64 %".102", 12
  %".108" = add i64 %".107", %".103"
  %".109" = getelementptr float, ptr %".20", i64 %".108"
  %".110" = getelementptr i8, ptr %".3", i64 128
  %".111" = xor i1 %".106", -1
  br i1 %".111", label %"then.1", label %"end.1"
loop.1:
  %"i.1" = phi  i64 [0, %"then"], [%".60", %"done.2"]
  %".49" = icmp slt i64 %"i.1", 4
  br i1 %".49", label %"body.1", label %"done.1"
body.1:
  br label %"loop.2"
done.1:
  %".62" = icmp slt i64 %".37", 0
  %".63" = sub i64 0, %".37"
  %".64" = select  i1 %".62", i64 %".63", i64 0
  %".65" = sub i64 8, %".37"
  %".66" = icmp slt i64 %".65", 4
  %".67" = select  i1 %".66", i64 %".65", i64 4
  %".68" = icmp slt i64 %".38", 0
  %".69" = sub i64 0, %".38"
  %".70" = select  i1 %".68", i64 %".69", i64 0
  %".71" = sub i64 16, %".38"
  %".72" = icmp slt i64 %".71", 8
  %".73" = select  i1 %".72", i64 %".71", i64 8
  br label %"loop.3"
loop.2:
  %"i.2" = phi  i64 [0, %"body.1"], [%".58", %"body.2"]
  %".52" = icmp slt i64 %"i.2", 8
  br i1 %".52", label %"body.2", label %"done.2"
body.2:
  %".54" = mul i64 %"i.1", 8
  %".55" = add i64 %".54", %"i.2"
  %".56" = getelementptr inbounds float, ptr %".45", i64 %".55"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".56", align 4
  %".58" = add i64 %"i.2", 4
  br label %"loop.2"
done.2:
  %".60" = add i64 %"i.1", 1
  br label %"loop.1"
loop.3:
  %"i.3" = phi  i64 [%".64", %"done.1"], [%".92", %"done.4"]
  %".75" = icmp slt i64 %"i.3", %".67"
  br i1 %".75", label %"body.3", label %"done.3"
body.3:
  br label %"loop.4"
done.3:
  br label %"end"
loop.4:
  %"i.4" = phi  i64 [%".70", %"body.3"], [%".90", %"body.4"]
  %".78" = icmp slt i64 %"i.4", %".73"
  br i1 %".78", label %"body.4", label %"done.4"
body.4:
  %".80" = add i64 %".37", %"i.3"
  %".81" = add i64 %".38", %"i.4"
  %".82" = mul i64 %".80", 16
  %".83" = add i64 %".82", %".81"
  %".84" = getelementptr inbounds float, ptr %".18", i64 %".83"
  %".85" = load float, ptr %".84", align 4
  %".86" = mul i64 %"i.3", 8
  %".87" = add i64 %".86", %"i.4"
  %".88" = getelementptr inbounds float, ptr %".45", i64 %".87"
  store float %".85", ptr %".88", align 4
  %".90" = add i64 %"i.4", 1
  br label %"loop.4"
done.4:
  %".92" = add i64 %"i.3", 1
  br label %"loop.3"
then.1:
  br label %"loop.5"
end.1:
  %".158" = select  i1 %".106", ptr %".109", ptr %".110"
  %".159" = select  i1 %".106", i64 12, i64 6
  %".160" = trunc i64 %".15" to i32
  %".161" = trunc i64 %".13" to i32
  %".162" = trunc i64 %"i" to i32
  %".163" = sext i32 %".160" to i64
  %".164" = sext i32 %".161" to i64
  %".165" = mul i64 %".163", 4
  %".166" = mul i64 %".164", 6
  %".167" = icmp ule i64 %".165", 4
  %".168" = icmp ule i64 %".166", 6
  %".169" = and i1 %".167", %".168"
  %".170" = mul i64 %".165", 12
  %".171" = add i64 %".170", %".166"
  %".172" = getelementptr float, ptr %".22", i64 %".171"
  %".173" = getelementptr i8, ptr %".3", i64 320
  %".174" = xor i1 %".169", -1
  br i1 %".174", label %"then.2", label %"end.2"
loop.5:
  %"i.5" = phi  i64 [0, %"then.1"], [%".123", %"body.5"]
  %".114" = icmp slt i64 %"i.5", 8
  br i1 %".114", label %"body.5", label %"done.5"
body.5:
  %".116" = mul i64 %"i.5", 6
  %".117" = getelementptr inbounds float, ptr %".110", i64 %".116"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".117", align 4
  %".119" = mul i64 %"i.5", 6
  %".120" = add i64 %".119", 4
  %".121" = getelementptr inbounds float, ptr %".110", i64 %".120"
  store <2 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".121", align 4
  %".123" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  %".125" = icmp slt i64 %".102", 0
  %".126" = sub i64 0, %".102"
  %".127" = select  i1 %".125", i64 %".126", i64 0
  %".128" = sub i64 16, %".102"
  %".129" = icmp slt i64 %".128", 8
  %".130" = select  i1 %".129", i64 %".128", i64 8
  %".131" = icmp slt i64 %".103", 0
  %".132" = sub i64 0, %".103"
  %".133" = select  i1 %".131", i64 %".132", i64 0
  %".134" = sub i64 12, %".103"
  %".135" = icmp slt i64 %".134", 6
  %".136" = select  i1 %".135", i64 %".134", i64 6
  br label %"loop.6"
loop.6:
  %"i.6" = phi  i64 [%".127", %"done.5"], [%".155", %"done.7"]
  %".138" = icmp slt i64 %"i.6", %".130"
  br i1 %".138", label %"body.6", label %"done.6"
body.6:
  br label %"loop.7"
done.6:
  br label %"end.1"
loop.7:
  %"i.7" = phi  i64 [%".133", %"body.6"], [%".153", %"body.7"]
  %".141" = icmp slt i64 %"i.7", %".136"
  br i1 %".141", label %"body.7", label %"done.7"
body.7:
  %".143" = add i64 %".102", %"i.6"
  %".144" = add i64 %".103", %"i.7"
  %".145" = mul i64 %".143", 12
  %".146" = add i64 %".145", %".144"
  %".147" = getelementptr inbounds float, ptr %".20", i64 %".146"
  %".148" = load float, ptr %".147", align 4
  %".149" = mul i64 %"i.6", 6
  %".150" = add i64 %".149", %"i.7"
  %".151" = getelementptr inbounds float, ptr %".110", i64 %".150"
  store float %".148", ptr %".151", align 4
  %".153" = add i64 %"i.7", 1
  br label %"loop.7"
done.7:
  %".155" = add i64 %"i.6", 1
  br label %"loop.6"
then.2:
  br label %"loop.8"
end.2:
  %".221" = select  i1 %".169", ptr %".172", ptr %".173"
  %".222" = select  i1 %".169", i64 12, i64 6
  %".223" = icmp eq i32 %".28", 0
  %".224" = zext i1 %".223" to i32
  %".225" = sext i32 %".224" to i64
  %".226" = icmp slt i64 %".225", 0
  %".227" = select  i1 %".226", i64 0, i64 %".225"
  switch i64 %".227", label %"case.1" [i64 0, label %"case.0"]
loop.8:
  %"i.8" = phi  i64 [0, %"then.2"], [%".186", %"body.8"]
  %".177" = icmp slt i64 %"i.8", 4
  br i1 %".177", label %"body.8", label %"done.8"
body.8:
  %".179" = mul i64 %"i.8", 6
  %".180" = getelementptr inbounds float, ptr %".173", i64 %".179"
  store <4 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".180", align 4
  %".182" = mul i64 %"i.8", 6
  %".183" = add i64 %".182", 4
  %".184" = getelementptr inbounds float, ptr %".173", i64 %".183"
  store <2 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".184", align 4
  %".186" = add i64 %"i.8", 1
  br label %"loop.8"
done.8:
  %".188" = icmp slt i64 %".165", 0
  %".189" = sub i64 0, %".165"
  %".190" = select  i1 %".188", i64 %".189", i64 0
  %".191" = sub i64 8, %".165"
  %".192" = icmp slt i64 %".191", 4
  %".193" = select  i1 %".192", i64 %".191", i64 4
  %".194" = icmp slt i64 %".166", 0
  %".195" = sub i64 0, %".166"
  %".196" = select  i1 %".194", i64 %".195", i64 0
  %".197" = sub i64 12, %".166"
  %".198" = icmp slt i64 %".197", 6
  %".199" = select  i1 %".198", i64 %".197", i64 6
  br label %"loop.9"
loop.9:
  %"i.9" = phi  i64 [%".190", %"done.8"], [%".218", %"done.10"]
  %".201" = icmp slt i64 %"i.9", %".193"
  br i1 %".201", label %"body.9", label %"done.9"
body.9:
  br label %"loop.10"
done.9:
  br label %"end.2"
loop.10:
  %"i.10" = phi  i64 [%".196", %"body.9"], [%".216", %"body.10"]
  %".204" = icmp slt i64 %"i.10", %".199"
  br i1 %".204", label %"body.10", label %"done.10"
body.10:
  %".206" = add i64 %".165", %"i.9"
  %".207" = add i64 %".166", %"i.10"
  %".208" = mul i64 %".206", 12
  %".209" = add i64 %".208", %".207"
  %".210" = getelementptr inbounds float, ptr %".22", i64 %".209"
  %".211" = load float, ptr %".210", align 4
  %".212" = mul i64 %"i.9", 6
  %".213" = add i64 %".212", %"i.10"
  %".214" = getelementptr inbounds float, ptr %".173", i64 %".213"
  store float %".211", ptr %".214", align 4
  %".216" = add i64 %"i.10", 1
  br label %"loop.10"
done.10:
  %".218" = add i64 %"i.9", 1
  br label %"loop.9"
switch.done:
  %".247" = getelementptr i8, ptr %".3", i64 448
  br label %"loop.12"
case.0:
  br label %"switch.done"
case.1:
  br label %"loop.11"
loop.11:
  %"i.11" = phi  i64 [0, %"case.1"], [%".244", %"body.11"]
  %".231" = icmp slt i64 %"i.11", 4
  br i1 %".231", label %"body.11", label %"done.11"
body.11:
  %".233" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".234" = shufflevector <4 x float> %".233", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".235" = mul i64 %"i.11", %".222"
  %".236" = getelementptr inbounds float, ptr %".221", i64 %".235"
  store <4 x float> %".234", ptr %".236", align 4
  %".238" = insertelement <2 x float> <float undef, float undef>, float              0x0, i32 0
  %".239" = shufflevector <2 x float> %".238", <2 x float> <float undef, float undef>, <2 x i32> <i32 0, i32 0>
  %".240" = mul i64 %"i.11", %".222"
  %".241" = add i64 %".240", 4
  %".242" = getelementptr inbounds float, ptr %".221", i64 %".241"
  store <2 x float> %".239", ptr %".242", align 4
  %".244" = add i64 %"i.11", 1
  br label %"loop.11"
done.11:
  br label %"switch.done"
loop.12:
  %"i.12" = phi  i64 [0, %"switch.done"], [%".379", %"k.done"]
  %".249" = icmp slt i64 %"i.12", 6
  br i1 %".249", label %"body.12", label %"done.12"
body.12:
  %".251" = getelementptr inbounds float, ptr %".221", i64 %"i.12"
  %".252" = load <4 x float>, ptr %".251", align 4
  %".253" = add i64 %"i.12", 4
  %".254" = getelementptr inbounds float, ptr %".221", i64 %".253"
  %".255" = load <2 x float>, ptr %".254", align 4
  %".256" = shufflevector <2 x float> %".255", <2 x float> <float              0x0, float              0x0>, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".257" = add i64 %".222", %"i.12"
  %".258" = getelementptr inbounds float, ptr %".221", i64 %".257"
  %".259" = load <4 x float>, ptr %".258", align 4
  %".260" = add i64 %"i.12", 4
  %".261" = add i64 %".222", %".260"
  %".262" = getelementptr inbounds float, ptr %".221", i64 %".261"
  %".263" = load <2 x float>, ptr %".262", align 4
  %".264" = shufflevector <2 x float> %".263", <2 x float> <float              0x0, float              0x0>, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".265" = mul i64 2, %".222"
  %".266" = add i64 %".265", %"i.12"
  %".267" = getelementptr inbounds float, ptr %".221", i64 %".266"
  %".268" = load <4 x float>, ptr %".267", align 4
  %".269" = add i64 %"i.12", 4
  %".270" = mul i64 2, %".222"
  %".271" = add i64 %".270", %".269"
  %".272" = getelementptr inbounds float, ptr %".221", i64 %".271"
  %".273" = load <2 x float>, ptr %".272", align 4
  %".274" = shufflevector <2 x float> %".273", <2 x float> <float              0x0, float              0x0>, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".275" = mul i64 3, %".222"
  %".276" = add i64 %".275", %"i.12"
  %".277" = getelementptr inbounds float, ptr %".221", i64 %".276"
  %".278" = load <4 x float>, ptr %".277", align 4
  %".279" = add i64 %"i.12", 4
  %".280" = mul i64 3, %".222"
  %".281" = add i64 %".280", %".279"
  %".282" = getelementptr inbounds float, ptr %".221", i64 %".281"
  %".283" = load <2 x float>, ptr %".282", align 4
  %".284" = shufflevector <2 x float> %".283", <2 x float> <float              0x0, float              0x0>, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  br label %"k"
done.12:
  br i1 %".174", label %"then.3", label %"end.3"
k:
  %".286" = phi  i64 [0, %"body.12"], [%".343", %"k.body"]
  %".287" = phi  <4 x float> [%".252", %"body.12"], [%".318", %"k.body"]
  %".288" = phi  <4 x float> [%".256", %"body.12"], [%".319", %"k.body"]
  %".289" = phi  <4 x float> [%".259", %"body.12"], [%".325", %"k.body"]
  %".290" = phi  <4 x float> [%".264", %"body.12"], [%".326", %"k.body"]
  %".291" = phi  <4 x float> [%".268", %"body.12"], [%".333", %"k.body"]
  %".292" = phi  <4 x float> [%".274", %"body.12"], [%".334", %"k.body"]
  %".293" = phi  <4 x float> [%".278", %"body.12"], [%".341", %"k.body"]
  %".294" = phi  <4 x float> [%".284", %"body.12"], [%".342", %"k.body"]
  %".295" = icmp slt i64 %".286", 8
  br i1 %".295", label %"k.body", label %"k.done"
k.body:
  %".297" = add i64 %".286", 32
  %".298" = icmp slt i64 %".297", 7
  %".299" = select  i1 %".298", i64 %".297", i64 7
  %".300" = mul i64 %".299", %".159"
  %".301" = add i64 %".300", %"i.12"
  %".302" = getelementptr inbounds float, ptr %".158", i64 %".301"
  call void @"llvm.prefetch.p0"(ptr %".302", i32 0, i32 3, i32 1)
  %".304" = mul i64 %".286", %".159"
  %".305" = add i64 %".304", %"i.12"
  %".306" = getelementptr inbounds float, ptr %".158", i64 %".305"
  %".307" = load <4 x float>, ptr %".306", align 4
  %".308" = add i64 %"i.12", 4
  %".309" = mul i64 %".286", %".159"
  %".310" = add i64 %".309", %".308"
  %".311" = getelementptr inbounds float, ptr %".158", i64 %".310"
  %".312" = load <2 x float>, ptr %".311", align 4
  %".313" = shufflevector <2 x float> %".312", <2 x float> <float              0x0, float              0x0>, <4 x i32> <i32 0, i32 1, i32 2, i32 2>
  %".314" = getelementptr inbounds float, ptr %".95", i64 %".286"
  %".315" = load float, ptr %".314", align 4
  %".316" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".315", i32 0
  %".317" = shufflevector <4 x float> %".316", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".318" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".317", <4 x float> %".307", <4 x float> %".287")
  %".319" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".317", <4 x float> %".313", <4 x float> %".288")
  %".320" = add i64 %".96", %".286"
  %".321" = getelementptr inbounds float, ptr %".95", i64 %".320"
  %".322" = load float, ptr %".321", align 4
  %".323" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".322", i32 0
  %".324" = shufflevector <4 x float> %".323", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".325" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".324", <4 x float> %".307", <4 x float> %".289")
  %".326" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".324", <4 x float> %".313", <4 x float> %".290")
  %".327" = mul i64 2, %".96"
  %".328" = add i64 %".327", %".286"
  %".329" = getelementptr inbounds float, ptr %".95", i64 %".328"
  %".330" = load float, ptr %".329", align 4
  %".331" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".330", i32 0
  %".332" = shufflevector <4 x float> %".331", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".333" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".332", <4 x float> %".307", <4 x float> %".291")
  %".334" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".332", <4 x float> %".313", <4 x float> %".292")
  %".335" = mul i64 3, %".96"
  %".336" = add i64 %".335", %".286"
  %".337" = getelementptr inbounds float, ptr %".95", i64 %".336"
  %".338" = load float, ptr %".337", align 4
  %".339" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".338", i32 0
  %".340" = shufflevector <4 x float> %".339", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".341" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".340", <4 x float> %".307", <4 x float> %".293")
  %".342" = call <4 x float> @"llvm.fma.v4f32"(<4 x float> %".340", <4 x float> %".313", <4 x float> %".294")
  %".343" = add i64 %".286", 1
  br label %"k"
k.done:
  %".345" = getelementptr inbounds float, ptr %".221", i64 %"i.12"
  store <4 x float> %".287", ptr %".345", align 4
  %".347" = shufflevector <4 x float> %".288", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".348" = add i64 %"i.12", 4
  %".349" = getelementptr inbounds float, ptr %".221", i64 %".348"
  store <2 x float> %".347", ptr %".349", align 4
  %".351" = add i64 %".222", %"i.12"
  %".352" = getelementptr inbounds float, ptr %".221", i64 %".351"
  store <4 x float> %".289", ptr %".352", align 4
  %".354" = shufflevector <4 x float> %".290", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".355" = add i64 %"i.12", 4
  %".356" = add i64 %".222", %".355"
  %".357" = getelementptr inbounds float, ptr %".221", i64 %".356"
  store <2 x float> %".354", ptr %".357", align 4
  %".359" = mul i64 2, %".222"
  %".360" = add i64 %".359", %"i.12"
  %".361" = getelementptr inbounds float, ptr %".221", i64 %".360"
  store <4 x float> %".291", ptr %".361", align 4
  %".363" = shufflevector <4 x float> %".292", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".364" = add i64 %"i.12", 4
  %".365" = mul i64 2, %".222"
  %".366" = add i64 %".365", %".364"
  %".367" = getelementptr inbounds float, ptr %".221", i64 %".366"
  store <2 x float> %".363", ptr %".367", align 4
  %".369" = mul i64 3, %".222"
  %".370" = add i64 %".369", %"i.12"
  %".371" = getelementptr inbounds float, ptr %".221", i64 %".370"
  store <4 x float> %".293", ptr %".371", align 4
  %".373" = shufflevector <4 x float> %".294", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".374" = add i64 %"i.12", 4
  %".375" = mul i64 3, %".222"
  %".376" = add i64 %".375", %".374"
  %".377" = getelementptr inbounds float, ptr %".221", i64 %".376"
  store <2 x float> %".373", ptr %".377", align 4
  %".379" = add i64 %"i.12", 6
  br label %"loop.12"
then.3:
  %".382" = icmp slt i64 %".165", 0
  %".383" = sub i64 0, %".165"
  %".384" = select  i1 %".382", i64 %".383", i64 0
  %".385" = sub i64 8, %".165"
  %".386" = icmp slt i64 %".385", 4
  %".387" = select  i1 %".386", i64 %".385", i64 4
  %".388" = icmp slt i64 %".166", 0
  %".389" = sub i64 0, %".166"
  %".390" = select  i1 %".388", i64 %".389", i64 0
  %".391" = sub i64 12, %".166"
  %".392" = icmp slt i64 %".391", 6
  %".393" = select  i1 %".392", i64 %".391", i64 6
  br label %"loop.13"
end.3:
  %".415" = add i64 %"i", 1
  br label %"loop"
loop.13:
  %"i.13" = phi  i64 [%".384", %"then.3"], [%".412", %"done.14"]
  %".395" = icmp slt i64 %"i.13", %".387"
  br i1 %".395", label %"body.13", label %"done.13"
body.13:
  br label %"loop.14"
done.13:
  br label %"end.3"
loop.14:
  %"i.14" = phi  i64 [%".390", %"body.13"], [%".410", %"body.14"]
  %".398" = icmp slt i64 %"i.14", %".393"
  br i1 %".398", label %"body.14", label %"done.14"
body.14:
  %".400" = add i64 %".165", %"i.13"
  %".401" = add i64 %".166", %"i.14"
  %".402" = mul i64 %"i.13", 6
  %".403" = add i64 %".402", %"i.14"
  %".404" = getelementptr inbounds float, ptr %".173", i64 %".403"
  %".405" = load float, ptr %".404", align 4
  %".406" = mul i64 %".400", 12
  %".407" = add i64 %".406", %".401"
  %".408" = getelementptr inbounds float, ptr %".22", i64 %".407"
  store float %".405", ptr %".408", align 4
  %".410" = add i64 %"i.14", 1
  br label %"loop.14"
done.14:
  %".412" = add i64 %"i.13", 1
  br label %"loop.13"
}
