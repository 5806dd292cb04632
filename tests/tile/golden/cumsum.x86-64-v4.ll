; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".150" = alloca <4 x float>
  br label %"start"
start:
  %".6" = getelementptr i64, ptr %".2", i64 0
  %".7" = load i64, ptr %".6"
  %".8" = getelementptr i64, ptr %".2", i64 1
  %".9" = load i64, ptr %".8"
  %".10" = urem i64 %".4", %".9"
  %".11" = udiv i64 %".4", %".9"
  %".12" = urem i64 %".11", %".7"
  %".13" = udiv i64 %".11", %".7"
  %".14" = getelementptr ptr, ptr %".1", i64 0
  %".15" = load ptr, ptr %".14"
  %".16" = getelementptr ptr, ptr %".1", i64 1
  %".17" = load ptr, ptr %".16"
  %".18" = getelementptr i8, ptr %".3", i64 0
  %".19" = trunc i64 %".12" to i32
  %".20" = trunc i64 %".10" to i32
  %".21" = trunc i64 %".7" to i32
  %".22" = trunc i64 %".9" to i32
  %".23" = trunc i64 %".12" to i32
  %".24" = trunc i64 %".10" to i32
  %".25" = sext i32 %".23" to i64
  %".26" = sext i32 %".24" to i64
  %".27" = mul i64 %".25", 4
  %".28" = mul i64 %".26", 32
  %".29" = icmp ule i64 %".27", 0
  %".30" = icmp ule i64 %".28", 0
  %".31" = and i1 %".29", %".30"
  %".32" = mul i64 %".27", 32
  %".33" = add i64 %".32", %".28"
  %".34" = getelementptr float, ptr %".15", i64 %".33"
  %".35" = getelementptr i8, ptr %".3", i64 64
  %".36" = xor i1 %".31", -1
  br i1 %".36", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".85" = select  i1 %".31", ptr %".34", ptr %".35"
  %".86" = trunc i64 %".12" to i32
  %".87" = trunc i64 %".10" to i32
  %".88" = sext i32 %".86" to i64
  %".89" = sext i32 %".87" to i64
  %".90" = mul i64 %".88", 4
  %".91" = mul i64 %".89", 32
  %".92" = icmp ule i64 %".90", 0
  %".93" = icmp ule i64 %".91", 0
  %".94" = and i1 %".92", %".93"
  %".95" = mul i64 %".90", 32
  %".96" = add i64 %".95", %".91"
  %".97" = getelementptr float, ptr %".17", i64 %".96"
  %".98" = getelementptr i8, ptr %".3", i64 576
  %".99" = xor i1 %".94", -1
  br i1 %".99", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".50", %"done.1"]
  %".39" = icmp slt i64 %"i", 4
  br i1 %".39", label %"body", label %"done"
body:
  br label %"loop.1"
done:
  %".52" = icmp slt i64 %".27", 0
  %".53" = sub i64 0, %".27"
  %".54" = select  i1 %".52", i64 %".53", i64 0
  %".55" = sub i64 4, %".27"
  %".56" = icmp slt i64 %".55", 4
  %".57" = select  i1 %".56", i64 %".55", i64 4
  %".58" = icmp slt i64 %".28", 0
  %".59" = sub i64 0, %".28"
  %".60" = select  i1 %".58", i64 %".59", i64 0
  %".61" = sub i64 32, %".28"
  %".62" = icmp slt i64 %".61", 32
  %".63" = select  i1 %".62", i64 %".61", i64 32
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".48", %"body.1"]
  %".42" = icmp slt i64 %"i.1", 32
  br i1 %".42", label %"body.1", label %"done.1"
body.1:
  %".44" = mul i64 %"i", 32
  %".45" = add i64 %".44", %"i.1"
  %".46" = getelementptr inbounds float, ptr %".35", i64 %".45"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".46", align 4
  %".48" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  %".50" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [%".54", %"done"], [%".82", %"done.3"]
  %".65" = icmp slt i64 %"i.2", %".57"
  br i1 %".65", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".60", %"body.2"], [%".80", %"body.3"]
  %".68" = icmp slt i64 %"i.3", %".63"
  br i1 %".68", label %"body.3", label %"done.3"
body.3:
  %".70" = add i64 %".27", %"i.2"
  %".71" = add i64 %".28", %"i.3"
  %".72" = mul i64 %".70", 32
  %".73" = add i64 %".72", %".71"
  %".74" = getelementptr inbounds float, ptr %".15", i64 %".73"
  %".75" = load float, ptr %".74", align 4
  %".76" = mul i64 %"i.2", 32
  %".77" = add i64 %".76", %"i.3"
  %".78" = getelementptr inbounds float, ptr %".35", i64 %".77"
  store float %".75", ptr %".78", align 4
  %".80" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".82" = add i64 %"i.2", 1
  br label %"loop.2"
then.1:
  br label %"loop.4"
end.1:
  %".148" = select  i1 %".94", ptr %".97", ptr %".98"
  %".149" = getelementptr i8, ptr %".3", i64 1088
  store <4 x float> <float              0x0, float              0x0, float              0x0, float              0x0>, <4 x float>* %".150"
  br label %"loop.8"
loop.4:
  %"i.4" = phi  i64 [0, %"then.1"], [%".113", %"done.5"]
  %".102" = icmp slt i64 %"i.4", 4
  br i1 %".102", label %"body.4", label %"done.4"
body.4:
  br label %"loop.5"
done.4:
  %".115" = icmp slt i64 %".90", 0
  %".116" = sub i64 0, %".90"
  %".117" = select  i1 %".115", i64 %".116", i64 0
  %".118" = sub i64 4, %".90"
  %".119" = icmp slt i64 %".118", 4
  %".120" = select  i1 %".119", i64 %".118", i64 4
  %".121" = icmp slt i64 %".91", 0
  %".122" = sub i64 0, %".91"
  %".123" = select  i1 %".121", i64 %".122", i64 0
  %".124" = sub i64 32, %".91"
  %".125" = icmp slt i64 %".124", 32
  %".126" = select  i1 %".125", i64 %".124", i64 32
  br label %"loop.6"
loop.5:
  %"i.5" = phi  i64 [0, %"body.4"], [%".111", %"body.5"]
  %".105" = icmp slt i64 %"i.5", 32
  br i1 %".105", label %"body.5", label %"done.5"
body.5:
  %".107" = mul i64 %"i.4", 32
  %".108" = add i64 %".107", %"i.5"
  %".109" = getelementptr inbounds float, ptr %".98", i64 %".108"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".109", align 4
  %".111" = add i64 %"i.5", 16
  br label %"loop.5"
done.5:
  %".113" = add i64 %"i.4", 1
  br label %"loop.4"
loop.6:
  %"i.6" = phi  i64 [%".117", %"done.4"], [%".145", %"done.7"]
  %".128" = icmp slt i64 %"i.6", %".120"
  br i1 %".128", label %"body.6", label %"done.6"
body.6:
  br label %"loop.7"
done.6:
  br label %"end.1"
loop.7:
  %"i.7" = phi  i64 [%".123", %"body.6"], [%".143", %"body.7"]
  %".131" = icmp slt i64 %"i.7", %".126"
  br i1 %".131", label %"body.7", label %"done.7"
body.7:
  %".133" = add i64 %".90", %"i.6"
  %".134" = add i64 %".91", %"i.7"
  %".135" = mul i64 %".133", 32
  %".136" = add i64 %".135", %".134"
  %".137" = getelementptr inbounds float, ptr %".17", i64 %".136"
  %".138" = load float, ptr %".137", align 4
  %".139" = mul i64 %"i.6", 32
  %".140" = add i64 %".139", %"i.7"
  %".141" = getelementptr inbounds float, ptr %".98", i64 %".140"
  store float %".138", ptr %".141", align 4
  %".143" = add i64 %"i.7", 1
  br label %"loop.7"
done.7:
  %".145" = add i64 %"i.6", 1
  br label %"loop.6"
loop.8:
  %"i.8" = phi  i64 [0, %"end.1"], [%".190", %"body.8"]
  %".153" = icmp slt i64 %"i.8", 32
  br i1 %".153", label %"body.8", label %"done.8"
body.8:
  %".155" = load <4 x float>, <4 x float>* %".150"
  %".156" = getelementptr inbounds float, ptr %".85", i64 %"i.8"
  %".157" = getelementptr inbounds float, ptr %".85", i64 %"i.8"
  %".158" = load float, ptr %".157", align 4
  %".159" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".158", i32 0
  %".160" = add i64 32, %"i.8"
  %".161" = getelementptr inbounds float, ptr %".85", i64 %".160"
  %".162" = load float, ptr %".161", align 4
  %".163" = insertelement <4 x float> %".159", float %".162", i32 1
  %".164" = add i64 64, %"i.8"
  %".165" = getelementptr inbounds float, ptr %".85", i64 %".164"
  %".166" = load float, ptr %".165", align 4
  %".167" = insertelement <4 x float> %".163", float %".166", i32 2
  %".168" = add i64 96, %"i.8"
  %".169" = getelementptr inbounds float, ptr %".85", i64 %".168"
  %".170" = load float, ptr %".169", align 4
  %".171" = insertelement <4 x float> %".167", float %".170", i32 3
  %".172" = fadd <4 x float> %".155", %".171"
  store <4 x float> %".172", <4 x float>* %".150"
  %".174" = getelementptr inbounds float, ptr %".149", i64 %"i.8"
  %".175" = getelementptr inbounds float, ptr %".149", i64 %"i.8"
  %".176" = extractelement <4 x float> %".172", i32 0
  store float %".176", ptr %".175", align 4
  %".178" = add i64 32, %"i.8"
  %".179" = getelementptr inbounds float, ptr %".149", i64 %".178"
  %".180" = extractelement <4 x float> %".172", i32 1
  store float %".180", ptr %".179", align 4
  %".182" = add i64 64, %"i.8"
  %".183" = getelementptr inbounds float, ptr %".149", i64 %".182"
  %".184" = extractelement <4 x float> %".172", i32 2
  store float %".184", ptr %".183", align 4
  %".186" = add i64 96, %"i.8"
  %".187" = getelementptr inbounds float, ptr %".149", i64 %".186"
  %".188" = extractelement <4 x float> %".172", i32 3
  store float %".188", ptr %".187", align 4
  %".190" = add i64 %"i.8", 1
  br label %"loop.8"
done.8:
  %".192" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float              0x0, i32 0
  %".193" = shufflevector <4 x float> %".192", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".194" = getelementptr inbounds float, ptr %".18", i64 0
  store <4 x float> %".193", ptr %".194", align 4
  %".196" = getelementptr i8, ptr %".3", i64 1600
  br label %"loop.9"
loop.9:
  %"i.9" = phi  i64 [0, %"done.8"], [%".218", %"done.10"]
  %".198" = icmp slt i64 %"i.9", 4
  br i1 %".198", label %"body.9", label %"done.9"
body.9:
  %".200" = getelementptr inbounds float, ptr %".18", i64 %"i.9"
  %".201" = load float, ptr %".200", align 4
  br label %"loop.10"
done.9:
  br label %"loop.11"
loop.10:
  %"i.10" = phi  i64 [0, %"body.9"], [%".216", %"body.10"]
  %".203" = icmp slt i64 %"i.10", 32
  br i1 %".203", label %"body.10", label %"done.10"
body.10:
  %".205" = mul i64 %"i.9", 32
  %".206" = add i64 %".205", %"i.10"
  %".207" = getelementptr inbounds float, ptr %".149", i64 %".206"
  %".208" = load <16 x float>, ptr %".207", align 4
  %".209" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".201", i32 0
  %".210" = shufflevector <16 x float> %".209", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".211" = fadd <16 x float> %".208", %".210"
  %".212" = mul i64 %"i.9", 32
  %".213" = add i64 %".212", %"i.10"
  %".214" = getelementptr inbounds float, ptr %".196", i64 %".213"
  store <16 x float> %".211", ptr %".214", align 4
  %".216" = add i64 %"i.10", 16
  br label %"loop.10"
done.10:
  %".218" = add i64 %"i.9", 1
  br label %"loop.9"
loop.11:
  %"i.11" = phi  i64 [0, %"done.9"], [%".236", %"done.12"]
  %".221" = icmp slt i64 %"i.11", 4
  br i1 %".221", label %"body.11", label %"done.11"
body.11:
  br label %"loop.12"
done.11:
  %".238" = getelementptr inbounds float, ptr %".196", i64 31
  %".239" = getelementptr inbounds float, ptr %".196", i64 31
  %".240" = load float, ptr %".239", align 4
  %".241" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %".240", i32 0
  %".242" = getelementptr inbounds float, ptr %".196", i64 63
  %".243" = load float, ptr %".242", align 4
  %".244" = insertelement <4 x float> %".241", float %".243", i32 1
  %".245" = getelementptr inbounds float, ptr %".196", i64 95
  %".246" = load float, ptr %".245", align 4
  %".247" = insertelement <4 x float> %".244", float %".246", i32 2
  %".248" = getelementptr inbounds float, ptr %".196", i64 127
  %".249" = load float, ptr %".248", align 4
  %".250" = insertelement <4 x float> %".247", float %".249", i32 3
  %".251" = getelementptr inbounds float, ptr %".18", i64 0
  store <4 x float> %".250", ptr %".251", align 4
  br i1 %".99", label %"then.2", label %"end.2"
loop.12:
  %"i.12" = phi  i64 [0, %"body.11"], [%".234", %"body.12"]
  %".224" = icmp slt i64 %"i.12", 32
  br i1 %".224", label %"body.12", label %"done.12"
body.12:
  %".226" = mul i64 %"i.11", 32
  %".227" = add i64 %".226", %"i.12"
  %".228" = getelementptr inbounds float, ptr %".196", i64 %".227"
  %".229" = load <16 x float>, ptr %".228", align 4
  %".230" = mul i64 %"i.11", 32
  %".231" = add i64 %".230", %"i.12"
  %".232" = getelementptr inbounds float, ptr %".148", i64 %".231"
  store <16 x float> %".229", ptr %".232", align 4
  %".234" = add i64 %"i.12", 16
  br label %"loop.12"
done.12:
  %".236" = add i64 %"i.11", 1
  br label %"loop.11"
then.2:
  %".254" = icmp slt i64 %".90", 0
  %".255" = sub i64 0, %".90"
  %".256" = select  i1 %".254", i64 %".255", i64 0
  %".257" = sub i64 4, %".90"
  %".258" = icmp slt i64 %".257", 4
  %".259" = select  i1 %".258", i64 %".257", i64 4
  %".260" = icmp slt i64 %".91", 0
  %".261" = sub i64 0, %".91"
  %".262" = select  i1 %".260", i64 %".261", i64 0
  %".263" = sub i64 32, %".91"
  %".264" = icmp slt i64 %".263", 32
  %".265" = select  i1 %".264", i64 %".263", i64 32
  br label %"loop.13"
end.2:
  ret void
loop.13:
  %"i.13" = phi  i64 [%".256", %"then.2"], [%".284", %"done.14"]
  %".267" = icmp slt i64 %"i.13", %".259"
  br i1 %".267", label %"body.13", label %"done.13"
body.13:
  br label %"loop.14"
done.13:
  br label %"end.2"
loop.14:
  %"i.14" = phi  i64 [%".262", %"body.13"], [%".282", %"body.14"]
  %".270" = icmp slt i64 %"i.14", %".265"
  br i1 %".270", label %"body.14", label %"done.14"
body.14:
  %".272" = add i64 %".90", %"i.13"
  %".273" = add i64 %".91", %"i.14"
  %".274" = mul i64 %"i.13", 32
  %".275" = add i64 %".274", %"i.14"
  %".276" = getelementptr inbounds float, ptr %".98", i64 %".275"
  %".277" = load float, ptr %".276", align 4
  %".278" = mul i64 %".272", 32
  %".279" = add i64 %".278", %".273"
  %".280" = getelementptr inbounds float, ptr %".17", i64 %".279"
  store float %".277", ptr %".280", align 4
  %".282" = add i64 %"i.14", 1
  br label %"loop.14"
done.14:
  %".284" = add i64 %"i.13", 1
  br label %"loop.13"
}
