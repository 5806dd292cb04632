; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".211" = alloca <16 x float>
  %".212" = alloca <16 x float>
  %".285" = alloca <16 x float>
  %".286" = alloca <16 x float>
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".2", i64 0
  %".7" = load i64, ptr %".6"
  %".8" = urem i64 %".4", %".7"
  %".9" = udiv i64 %".4", %".7"
  %".10" = getelementptr ptr, ptr %".1", i64 0
  %".11" = load ptr, ptr %".10"
  %".12" = getelementptr ptr, ptr %".1", i64 1
  %".13" = load ptr, ptr %".12"
  %".14" = getelementptr ptr, ptr %".1", i64 2
  %".15" = load ptr, ptr %".14"
  %".16" = getelementptr ptr, ptr %".1", i64 3
  %".17" = load ptr, ptr %".16"
  %".18" = trunc i64 %".8" to i32
  %".19" = trunc i64 %".7" to i32
  %".20" = trunc i64 %".8" to i32
  %".21" = sext i32 %".20" to i64
  %".22" = sext i32 0 to i64
  %".23" = mul i64 %".21", 4
  %".24" = mul i64 %".22", 32
  %".25" = icmp ule i64 %".23", 0
  %".26" = icmp ule i64 %".24", 0
  %".27" = and i1 %".25", %".26"
  %".28" = mul i64 %".23", 32
  %".29" = add i64 %".28", %".24"
  %".30" = getelementptr float, ptr %".11", i64 %".29"
  %".31" = getelementptr i8, ptr %".3", i64 0
  %".32" = xor i1 %".27", -1
  br i1 %".32", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".81" = select  i1 %".27", ptr %".30", ptr %".31"
  %".82" = trunc i64 %".8" to i32
  %".83" = sext i32 0 to i64
  %".84" = mul i64 %".83", 32
  %".85" = icmp ule i64 %".84", 0
  %".86" = getelementptr float, ptr %".13", i64 %".84"
  %".87" = getelementptr i8, ptr %".3", i64 512
  %".88" = xor i1 %".85", -1
  br i1 %".88", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".46", %"done.1"]
  %".35" = icmp slt i64 %"i", 4
  br i1 %".35", label %"body", label %"done"
body:
  br label %"loop.1"
done:
  %".48" = icmp slt i64 %".23", 0
  %".49" = sub i64 0, %".23"
  %".50" = select  i1 %".48", i64 %".49", i64 0
  %".51" = sub i64 4, %".23"
  %".52" = icmp slt i64 %".51", 4
  %".53" = select  i1 %".52", i64 %".51", i64 4
  %".54" = icmp slt i64 %".24", 0
  %".55" = sub i64 0, %".24"
  %".56" = select  i1 %".54", i64 %".55", i64 0
  %".57" = sub i64 32, %".24"
  %".58" = icmp slt i64 %".57", 32
  %".59" = select  i1 %".58", i64 %".57", i64 32
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".44", %"body.1"]
  %".38" = icmp slt i64 %"i.1", 32
  br i1 %".38", label %"body.1", label %"done.1"
body.1:
  %".40" = mul i64 %"i", 32
  %".41" = add i64 %".40", %"i.1"
  %".42" = getelementptr inbounds float, ptr %".31", i64 %".41"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".42", align 4
  %".44" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  %".46" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [%".50", %"done"], [%".78", %"done.3"]
  %".61" = icmp slt i64 %"i.2", %".53"
  br i1 %".61", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".56", %"body.2"], [%".76", %"body.3"]
  %".64" = icmp slt i64 %"i.3", %".59"
  br i1 %".64", label %"body.3", label %"done.3"
body.3:
  %".66" = add i64 %".23", %"i.2"
  %".67" = add i64 %".24", %"i.3"
  %".68" = mul i64 %".66", 32
  %".69" = add i64 %".68", %".67"
  %".70" = getelementptr inbounds float, ptr %".11", i64 %".69"
  %".71" = load float, ptr %".70", align 4
  %".72" = mul i64 %"i.2", 32
  %".73" = add i64 %".72", %"i.3"
  %".74" = getelementptr inbounds float, ptr %".31", i64 %".73"
  store float %".71", ptr %".74", align 4
  %".76" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".78" = add i64 %"i.2", 1
  br label %"loop.2"
then.1:
  br label %"loop.4"
end.1:
  %".114" = select  i1 %".85", ptr %".86", ptr %".87"
  %".115" = trunc i64 %".8" to i32
  %".116" = sext i32 0 to i64
  %".117" = mul i64 %".116", 32
  %".118" = icmp ule i64 %".117", 0
  %".119" = getelementptr float, ptr %".15", i64 %".117"
  %".120" = getelementptr i8, ptr %".3", i64 640
  %".121" = xor i1 %".118", -1
  br i1 %".121", label %"then.2", label %"end.2"
loop.4:
  %"i.4" = phi  i64 [0, %"then.1"], [%".95", %"body.4"]
  %".91" = icmp slt i64 %"i.4", 32
  br i1 %".91", label %"body.4", label %"done.4"
body.4:
  %".93" = getelementptr inbounds float, ptr %".87", i64 %"i.4"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".93", align 4
  %".95" = add i64 %"i.4", 16
  br label %"loop.4"
done.4:
  %".97" = icmp slt i64 %".84", 0
  %".98" = sub i64 0, %".84"
  %".99" = select  i1 %".97", i64 %".98", i64 0
  %".100" = sub i64 32, %".84"
  %".101" = icmp slt i64 %".100", 32
  %".102" = select  i1 %".101", i64 %".100", i64 32
  br label %"loop.5"
loop.5:
  %"i.5" = phi  i64 [%".99", %"done.4"], [%".111", %"body.5"]
  %".104" = icmp slt i64 %"i.5", %".102"
  br i1 %".104", label %"body.5", label %"done.5"
body.5:
  %".106" = add i64 %".84", %"i.5"
  %".107" = getelementptr inbounds float, ptr %".13", i64 %".106"
  %".108" = load float, ptr %".107", align 4
  %".109" = getelementptr inbounds float, ptr %".87", i64 %"i.5"
  store float %".108", ptr %".109", align 4
  %".111" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  br label %"end.1"
then.2:
  br label %"loop.6"
end.2:
  %".147" = select  i1 %".118", ptr %".119", ptr %".120"
  %".148" = trunc i64 %".8" to i32
  %".149" = sext i32 %".148" to i64
  %".150" = sext i32 0 to i64
  %".151" = mul i64 %".149", 4
  %".152" = mul i64 %".150", 32
  %".153" = icmp ule i64 %".151", 0
  %".154" = icmp ule i64 %".152", 0
  %".155" = and i1 %".153", %".154"
  %".156" = mul i64 %".151", 32
  %".157" = add i64 %".156", %".152"
  %".158" = getelementptr float, ptr %".17", i64 %".157"
  %".159" = getelementptr i8, ptr %".3", i64 768
  %".160" = xor i1 %".155", -1
  br i1 %".160", label %"then.3", label %"end.3"
loop.6:
  %"i.6" = phi  i64 [0, %"then.2"], [%".128", %"body.6"]
  %".124" = icmp slt i64 %"i.6", 32
  br i1 %".124", label %"body.6", label %"done.6"
body.6:
  %".126" = getelementptr inbounds float, ptr %".120", i64 %"i.6"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".126", align 4
  %".128" = add i64 %"i.6", 16
  br label %"loop.6"
done.6:
  %".130" = icmp slt i64 %".117", 0
  %".131" = sub i64 0, %".117"
  %".132" = select  i1 %".130", i64 %".131", i64 0
  %".133" = sub i64 32, %".117"
  %".134" = icmp slt i64 %".133", 32
  %".135" = select  i1 %".134", i64 %".133", i64 32
  br label %"loop.7"
loop.7:
  %"i.7" = phi  i64 [%".132", %"done.6"], [%".144", %"body.7"]
  %".137" = icmp slt i64 %"i.7", %".135"
  br i1 %".137", label %"body.7", label %"done.7"
body.7:
  %".139" = add i64 %".117", %"i.7"
  %".140" = getelementptr inbounds float, ptr %".15", i64 %".139"
  %".141" = load float, ptr %".140", align 4
  %".142" = getelementptr inbounds float, ptr %".120", i64 %"i.7"
  store float %".141", ptr %".142", align 4
  %".144" = add i64 %"i.7", 1
  br label %"loop.7"
done.7:
  br label %"end.2"
then.3:
  br label %"loop.8"
end.3:
  %".209" = select  i1 %".155", ptr %".158", ptr %".159"
  %".210" = getelementptr i8, ptr %".3", i64 1280
  br label %"loop.12"
loop.8:
  %"i.8" = phi  i64 [0, %"then.3"], [%".174", %"done.9"]
  %".163" = icmp slt i64 %"i.8", 4
  br i1 %".163", label %"body.8", label %"done.8"
body.8:
  br label %"loop.9"
done.8:
  %".176" = icmp slt i64 %".151", 0
  %".177" = sub i64 0, %".151"
  %".178" = select  i1 %".176", i64 %".177", i64 0
  %".179" = sub i64 4, %".151"
  %".180" = icmp slt i64 %".179", 4
  %".181" = select  i1 %".180", i64 %".179", i64 4
  %".182" = icmp slt i64 %".152", 0
  %".183" = sub i64 0, %".152"
  %".184" = select  i1 %".182", i64 %".183", i64 0
  %".185" = sub i64 32, %".152"
  %".186" = icmp slt i64 %".185", 32
  %".187" = select  i1 %".186", i64 %".185", i64 32
  br label %"loop.10"
loop.9:
  %"i.9" = phi  i64 [0, %"body.8"], [%".172", %"body.9"]
  %".166" = icmp slt i64 %"i.9", 32
  br i1 %".166", label %"body.9", label %"done.9"
body.9:
  %".168" = mul i64 %"i.8", 32
  %".169" = add i64 %".168", %"i.9"
  %".170" = getelementptr inbounds float, ptr %".159", i64 %".169"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".170", align 4
  %".172" = add i64 %"i.9", 16
  br label %"loop.9"
done.9:
  %".174" = add i64 %"i.8", 1
  br label %"loop.8"
loop.10:
  %"i.10" = phi  i64 [%".178", %"done.8"], [%".206", %"done.11"]
  %".189" = icmp slt i64 %"i.10", %".181"
  br i1 %".189", label %"body.10", label %"done.10"
body.10:
  br label %"loop.11"
done.10:
  br label %"end.3"
loop.11:
  %"i.11" = phi  i64 [%".184", %"body.10"], [%".204", %"body.11"]
  %".192" = icmp slt i64 %"i.11", %".187"
  br i1 %".192", label %"body.11", label %"done.11"
body.11:
  %".194" = add i64 %".151", %"i.10"
  %".195" = add i64 %".152", %"i.11"
  %".196" = mul i64 %".194", 32
  %".197" = add i64 %".196", %".195"
  %".198" = getelementptr inbounds float, ptr %".17", i64 %".197"
  %".199" = load float, ptr %".198", align 4
  %".200" = mul i64 %"i.10", 32
  %".201" = add i64 %".200", %"i.11"
  %".202" = getelementptr inbounds float, ptr %".159", i64 %".201"
  store float %".199", ptr %".202", align 4
  %".204" = add i64 %"i.11", 1
  br label %"loop.11"
done.11:
  %".206" = add i64 %"i.10", 1
  br label %"loop.10"
loop.12:
  %"i.12" = phi  i64 [0, %"end.3"], [%".257", %"done.13"]
  %".214" = icmp slt i64 %"i.12", 4
  br i1 %".214", label %"body.12", label %"done.12"
body.12:
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".211"
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".212"
  br label %"loop.13"
done.12:
  %".259" = getelementptr i8, ptr %".3", i64 1344
  br label %"loop.14"
loop.13:
  %"i.13" = phi  i64 [0, %"body.12"], [%".236", %"body.13"]
  %".219" = icmp slt i64 %"i.13", 32
  br i1 %".219", label %"body.13", label %"done.13"
body.13:
  %".221" = mul i64 %"i.12", 32
  %".222" = add i64 %".221", %"i.13"
  %".223" = getelementptr inbounds float, ptr %".81", i64 %".222"
  %".224" = load <16 x float>, ptr %".223", align 4
  %".225" = load <16 x float>, <16 x float>* %".211"
  %".226" = fadd <16 x float> %".225", %".224"
  store <16 x float> %".226", <16 x float>* %".211"
  %".228" = add i64 %"i.13", 16
  %".229" = mul i64 %"i.12", 32
  %".230" = add i64 %".229", %".228"
  %".231" = getelementptr inbounds float, ptr %".81", i64 %".230"
  %".232" = load <16 x float>, ptr %".231", align 4
  %".233" = load <16 x float>, <16 x float>* %".212"
  %".234" = fadd <16 x float> %".233", %".232"
  store <16 x float> %".234", <16 x float>* %".212"
  %".236" = add i64 %"i.13", 32
  br label %"loop.13"
done.13:
  %".238" = load <16 x float>, <16 x float>* %".211"
  %".239" = load <16 x float>, <16 x float>* %".212"
  %".240" = fadd <16 x float> %".238", %".239"
  %".241" = shufflevector <16 x float> %".240", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".242" = shufflevector <16 x float> %".240", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".243" = fadd <8 x float> %".241", %".242"
  %".244" = shufflevector <8 x float> %".243", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".245" = shufflevector <8 x float> %".243", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".246" = fadd <4 x float> %".244", %".245"
  %".247" = shufflevector <4 x float> %".246", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".248" = shufflevector <4 x float> %".246", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".249" = fadd <2 x float> %".247", %".248"
  %".250" = shufflevector <2 x float> %".249", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".251" = shufflevector <2 x float> %".249", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".252" = extractelement <1 x float> %".250", i32 0
  %".253" = extractelement <1 x float> %".251", i32 0
  %".254" = fadd float %".252", %".253"
  %".255" = getelementptr inbounds float, ptr %".210", i64 %"i.12"
  store float %".254", ptr %".255", align 4
  %".257" = add i64 %"i.12", 1
  br label %"loop.12"
loop.14:
  %"i.14" = phi  i64 [0, %"done.12"], [%".282", %"done.15"]
  %".261" = icmp slt i64 %"i.14", 4
  br i1 %".261", label %"body.14", label %"done.14"
body.14:
  %".263" = getelementptr inbounds float, ptr %".210", i64 %"i.14"
  %".264" = load float, ptr %".263", align 4
  %".265" = fmul float %".264", 0x3fa0000000000000
  br label %"loop.15"
done.14:
  %".284" = getelementptr i8, ptr %".3", i64 1856
  br label %"loop.16"
loop.15:
  %"i.15" = phi  i64 [0, %"body.14"], [%".280", %"body.15"]
  %".267" = icmp slt i64 %"i.15", 32
  br i1 %".267", label %"body.15", label %"done.15"
body.15:
  %".269" = mul i64 %"i.14", 32
  %".270" = add i64 %".269", %"i.15"
  %".271" = getelementptr inbounds float, ptr %".81", i64 %".270"
  %".272" = load <16 x float>, ptr %".271", align 4
  %".273" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".265", i32 0
  %".274" = shufflevector <16 x float> %".273", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".275" = fsub <16 x float> %".272", %".274"
  %".276" = mul i64 %"i.14", 32
  %".277" = add i64 %".276", %"i.15"
  %".278" = getelementptr inbounds float, ptr %".259", i64 %".277"
  store <16 x float> %".275", ptr %".278", align 4
  %".280" = add i64 %"i.15", 16
  br label %"loop.15"
done.15:
  %".282" = add i64 %"i.14", 1
  br label %"loop.14"
loop.16:
  %"i.16" = phi  i64 [0, %"done.14"], [%".333", %"done.17"]
  %".288" = icmp slt i64 %"i.16", 4
  br i1 %".288", label %"body.16", label %"done.16"
body.16:
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".285"
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".286"
  br label %"loop.17"
done.16:
  br label %"loop.18"
loop.17:
  %"i.17" = phi  i64 [0, %"body.16"], [%".312", %"body.17"]
  %".293" = icmp slt i64 %"i.17", 32
  br i1 %".293", label %"body.17", label %"done.17"
body.17:
  %".295" = mul i64 %"i.16", 32
  %".296" = add i64 %".295", %"i.17"
  %".297" = getelementptr inbounds float, ptr %".259", i64 %".296"
  %".298" = load <16 x float>, ptr %".297", align 4
  %".299" = fmul <16 x float> %".298", %".298"
  %".300" = load <16 x float>, <16 x float>* %".285"
  %".301" = fadd <16 x float> %".300", %".299"
  store <16 x float> %".301", <16 x float>* %".285"
  %".303" = add i64 %"i.17", 16
  %".304" = mul i64 %"i.16", 32
  %".305" = add i64 %".304", %".303"
  %".306" = getelementptr inbounds float, ptr %".259", i64 %".305"
  %".307" = load <16 x float>, ptr %".306", align 4
  %".308" = fmul <16 x float> %".307", %".307"
  %".309" = load <16 x float>, <16 x float>* %".286"
  %".310" = fadd <16 x float> %".309", %".308"
  store <16 x float> %".310", <16 x float>* %".286"
  %".312" = add i64 %"i.17", 32
  br label %"loop.17"
done.17:
  %".314" = load <16 x float>, <16 x float>* %".285"
  %".315" = load <16 x float>, <16 x float>* %".286"
  %".316" = fadd <16 x float> %".314", %".315"
  %".317" = shufflevector <16 x float> %".316", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".318" = shufflevector <16 x float> %".316", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".319" = fadd <8 x float> %".317", %".318"
  %".320" = shufflevector <8 x float> %".319", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".321" = shufflevector <8 x float> %".319", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".322" = fadd <4 x float> %".320", %".321"
  %".323" = shufflevector <4 x float> %".322", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".324" = shufflevector <4 x float> %".322", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".325" = fadd <2 x float> %".323", %".324"
  %".326" = shufflevector <2 x float> %".325", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".327" = shufflevector <2 x float> %".325", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".328" = extractelement <1 x float> %".326", i32 0
  %".329" = extractelement <1 x float> %".327", i32 0
  %".330" = fadd float %".328", %".329"
  %".331" = getelementptr inbounds float, ptr %".284", i64 %"i.16"
  store float %".330", ptr %".331", align 4
  %".333" = add i64 %"i.16", 1
  br label %"loop.16"
loop.18:
  %"i.18" = phi  i64 [0, %"done.16"], [%".366", %"done.19"]
  %".336" = icmp slt i64 %"i.18", 4
  br i1 %".336", label %"body.18", label %"done.18"
body.18:
  %".338" = getelementptr inbounds float, ptr %".284", i64 %"i.18"
  %".339" = load float, ptr %".338", align 4
  %".340" = fmul float %".339", 0x3fa0000000000000
  %".341" = fadd float %".340", 0x3ee4f8b580000000
  %".342" = call float @"llvm.sqrt.f32"(float %".341")
  %".343" = fdiv float 0x3ff0000000000000, %".342"
  br label %"loop.19"
done.18:
  br i1 %".160", label %"then.4", label %"end.4"
loop.19:
  %"i.19" = phi  i64 [0, %"body.18"], [%".364", %"body.19"]
  %".345" = icmp slt i64 %"i.19", 32
  br i1 %".345", label %"body.19", label %"done.19"
body.19:
  %".347" = mul i64 %"i.18", 32
  %".348" = add i64 %".347", %"i.19"
  %".349" = getelementptr inbounds float, ptr %".259", i64 %".348"
  %".350" = load <16 x float>, ptr %".349", align 4
  %".351" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".343", i32 0
  %".352" = shufflevector <16 x float> %".351", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".353" = fmul <16 x float> %".350", %".352"
  %".354" = getelementptr inbounds float, ptr %".114", i64 %"i.19"
  %".355" = load <16 x float>, ptr %".354", align 4
  %".356" = fmul <16 x float> %".353", %".355"
  %".357" = getelementptr inbounds float, ptr %".147", i64 %"i.19"
  %".358" = load <16 x float>, ptr %".357", align 4
  %".359" = fadd <16 x float> %".356", %".358"
  %".360" = mul i64 %"i.18", 32
  %".361" = add i64 %".360", %"i.19"
  %".362" = getelementptr inbounds float, ptr %".209", i64 %".361"
  store <16 x float> %".359", ptr %".362", align 4
  %".364" = add i64 %"i.19", 16
  br label %"loop.19"
done.19:
  %".366" = add i64 %"i.18", 1
  br label %"loop.18"
then.4:
  %".369" = icmp slt i64 %".151", 0
  %".370" = sub i64 0, %".151"
  %".371" = select  i1 %".369", i64 %".370", i64 0
  %".372" = sub i64 4, %".151"
  %".373" = icmp slt i64 %".372", 4
  %".374" = select  i1 %".373", i64 %".372", i64 4
  %".375" = icmp slt i64 %".152", 0
  %".376" = sub i64 0, %".152"
  %".377" = select  i1 %".375", i64 %".376", i64 0
  %".378" = sub i64 32, %".152"
  %".379" = icmp slt i64 %".378", 32
  %".380" = select  i1 %".379", i64 %".378", i64 32
  br label %"loop.20"
end.4:
  ret void
loop.20:
  %"i.20" = phi  i64 [%".371", %"then.4"], [%".399", %"done.21"]
  %".382" = icmp slt i64 %"i.20", %".374"
  br i1 %".382", label %"body.20", label %"done.20"
body.20:
  br label %"loop.21"
done.20:
  br label %"end.4"
loop.21:
  %"i.21" = phi  i64 [%".377", %"body.20"], [%".397", %"body.21"]
  %".385" = icmp slt i64 %"i.21", %".380"
  br i1 %".385", label %"body.21", label %"done.21"
body.21:
  %".387" = add i64 %".151", %"i.20"
  %".388" = add i64 %".152", %"i.21"
  %".389" = mul i64 %"i.20", 32
  %".390" = add i64 %".389", %"i.21"
  %".391" = getelementptr inbounds float, ptr %".159", i64 %".390"
  %".392" = load float, ptr %".391", align 4
  %".393" = mul i64 %".387", 32
  %".394" = add i64 %".393", %".388"
  %".395" = getelementptr inbounds float, ptr %".17", i64 %".394"
  store float %".392", ptr %".395", align 4
  %".397" = add i64 %"i.21", 1
  br label %"loop.21"
done.21:
  %".399" = add i64 %"i.20", 1
  br label %"loop.20"
}
