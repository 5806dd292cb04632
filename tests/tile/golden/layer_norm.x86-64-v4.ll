; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".212" = alloca <16 x float>
  %".213" = alloca <16 x float>
  %".286" = alloca <16 x float>
  %".287" = alloca <16 x float>
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
  %".23" = sext i32 0 to i64
  %".24" = mul i64 %".22", 4
  %".25" = mul i64 %".23", 32
  %".26" = icmp ule i64 %".24", 0
  %".27" = icmp ule i64 %".25", 0
  %".28" = and i1 %".26", %".27"
  %".29" = mul i64 %".24", 32
  %".30" = add i64 %".29", %".25"
  %".31" = getelementptr float, ptr %".12", i64 %".30"
  %".32" = getelementptr i8, ptr %".3", i64 0
  %".33" = xor i1 %".28", -1
  br i1 %".33", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".82" = select  i1 %".28", ptr %".31", ptr %".32"
  %".83" = trunc i64 %".9" to i32
  %".84" = sext i32 0 to i64
  %".85" = mul i64 %".84", 32
  %".86" = icmp ule i64 %".85", 0
  %".87" = getelementptr float, ptr %".14", i64 %".85"
  %".88" = getelementptr i8, ptr %".3", i64 512
  %".89" = xor i1 %".86", -1
  br i1 %".89", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".47", %"done.1"]
  %".36" = icmp slt i64 %"i", 4
  br i1 %".36", label %"body", label %"done"
body:
  br label %"loop.1"
done:
  %".49" = icmp slt i64 %".24", 0
  %".50" = sub i64 0, %".24"
  %".51" = select  i1 %".49", i64 %".50", i64 0
  %".52" = sub i64 4, %".24"
  %".53" = icmp slt i64 %".52", 4
  %".54" = select  i1 %".53", i64 %".52", i64 4
  %".55" = icmp slt i64 %".25", 0
  %".56" = sub i64 0, %".25"
  %".57" = select  i1 %".55", i64 %".56", i64 0
  %".58" = sub i64 32, %".25"
  %".59" = icmp slt i64 %".58", 32
  %".60" = select  i1 %".59", i64 %".58", i64 32
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".45", %"body.1"]
  %".39" = icmp slt i64 %"i.1", 32
  br i1 %".39", label %"body.1", label %"done.1"
body.1:
  %".41" = mul i64 %"i", 32
  %".42" = add i64 %".41", %"i.1"
  %".43" = getelementptr inbounds float, ptr %".32", i64 %".42"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".43", align 4
  %".45" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  %".47" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [%".51", %"done"], [%".79", %"done.3"]
  %".62" = icmp slt i64 %"i.2", %".54"
  br i1 %".62", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".57", %"body.2"], [%".77", %"body.3"]
  %".65" = icmp slt i64 %"i.3", %".60"
  br i1 %".65", label %"body.3", label %"done.3"
body.3:
  %".67" = add i64 %".24", %"i.2"
  %".68" = add i64 %".25", %"i.3"
  %".69" = mul i64 %".67", 32
  %".70" = add i64 %".69", %".68"
  %".71" = getelementptr inbounds float, ptr %".12", i64 %".70"
  %".72" = load float, ptr %".71", align 4
  %".73" = mul i64 %"i.2", 32
  %".74" = add i64 %".73", %"i.3"
  %".75" = getelementptr inbounds float, ptr %".32", i64 %".74"
  store float %".72", ptr %".75", align 4
  %".77" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".79" = add i64 %"i.2", 1
  br label %"loop.2"
then.1:
  br label %"loop.4"
end.1:
  %".115" = select  i1 %".86", ptr %".87", ptr %".88"
  %".116" = trunc i64 %".9" to i32
  %".117" = sext i32 0 to i64
  %".118" = mul i64 %".117", 32
  %".119" = icmp ule i64 %".118", 0
  %".120" = getelementptr float, ptr %".16", i64 %".118"
  %".121" = getelementptr i8, ptr %".3", i64 640
  %".122" = xor i1 %".119", -1
  br i1 %".122", label %"then.2", label %"end.2"
loop.4:
  %"i.4" = phi  i64 [0, %"then.1"], [%".96", %"body.4"]
  %".92" = icmp slt i64 %"i.4", 32
  br i1 %".92", label %"body.4", label %"done.4"
body.4:
  %".94" = getelementptr inbounds float, ptr %".88", i64 %"i.4"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".94", align 4
  %".96" = add i64 %"i.4", 16
  br label %"loop.4"
done.4:
  %".98" = icmp slt i64 %".85", 0
  %".99" = sub i64 0, %".85"
  %".100" = select  i1 %".98", i64 %".99", i64 0
  %".101" = sub i64 32, %".85"
  %".102" = icmp slt i64 %".101", 32
  %".103" = select  i1 %".102", i64 %".101", i64 32
  br label %"loop.5"
loop.5:
  %"i.5" = phi  i64 [%".100", %"done.4"], [%".112", %"body.5"]
  %".105" = icmp slt i64 %"i.5", %".103"
  br i1 %".105", label %"body.5", label %"done.5"
body.5:
  %".107" = add i64 %".85", %"i.5"
  %".108" = getelementptr inbounds float, ptr %".14", i64 %".107"
  %".109" = load float, ptr %".108", align 4
  %".110" = getelementptr inbounds float, ptr %".88", i64 %"i.5"
  store float %".109", ptr %".110", align 4
  %".112" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  br label %"end.1"
then.2:
  br label %"loop.6"
end.2:
  %".148" = select  i1 %".119", ptr %".120", ptr %".121"
  %".149" = trunc i64 %".9" to i32
  %".150" = sext i32 %".149" to i64
  %".151" = sext i32 0 to i64
  %".152" = mul i64 %".150", 4
  %".153" = mul i64 %".151", 32
  %".154" = icmp ule i64 %".152", 0
  %".155" = icmp ule i64 %".153", 0
  %".156" = and i1 %".154", %".155"
  %".157" = mul i64 %".152", 32
  %".158" = add i64 %".157", %".153"
  %".159" = getelementptr float, ptr %".18", i64 %".158"
  %".160" = getelementptr i8, ptr %".3", i64 768
  %".161" = xor i1 %".156", -1
  br i1 %".161", label %"then.3", label %"end.3"
loop.6:
  %"i.6" = phi  i64 [0, %"then.2"], [%".129", %"body.6"]
  %".125" = icmp slt i64 %"i.6", 32
  br i1 %".125", label %"body.6", label %"done.6"
body.6:
  %".127" = getelementptr inbounds float, ptr %".121", i64 %"i.6"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".127", align 4
  %".129" = add i64 %"i.6", 16
  br label %"loop.6"
done.6:
  %".131" = icmp slt i64 %".118", 0
  %".132" = sub i64 0, %".118"
  %".133" = select  i1 %".131", i64 %".132", i64 0
  %".134" = sub i64 32, %".118"
  %".135" = icmp slt i64 %".134", 32
  %".136" = select  i1 %".135", i64 %".134", i64 32
  br label %"loop.7"
loop.7:
  %"i.7" = phi  i64 [%".133", %"done.6"], [%".145", %"body.7"]
  %".138" = icmp slt i64 %"i.7", %".136"
  br i1 %".138", label %"body.7", label %"done.7"
body.7:
  %".140" = add i64 %".118", %"i.7"
  %".141" = getelementptr inbounds float, ptr %".16", i64 %".140"
  %".142" = load float, ptr %".141", align 4
  %".143" = getelementptr inbounds float, ptr %".121", i64 %"i.7"
  store float %".142", ptr %".143", align 4
  %".145" = add i64 %"i.7", 1
  br label %"loop.7"
done.7:
  br label %"end.2"
then.3:
  br label %"loop.8"
end.3:
  %".210" = select  i1 %".156", ptr %".159", ptr %".160"
  %".211" = getelementptr i8, ptr %".3", i64 1280
  br label %"loop.12"
loop.8:
  %"i.8" = phi  i64 [0, %"then.3"], [%".175", %"done.9"]
  %".164" = icmp slt i64 %"i.8", 4
  br i1 %".164", label %"body.8", label %"done.8"
body.8:
  br label %"loop.9"
done.8:
  %".177" = icmp slt i64 %".152", 0
  %".178" = sub i64 0, %".152"
  %".179" = select  i1 %".177", i64 %".178", i64 0
  %".180" = sub i64 4, %".152"
  %".181" = icmp slt i64 %".180", 4
  %".182" = select  i1 %".181", i64 %".180", i64 4
  %".183" = icmp slt i64 %".153", 0
  %".184" = sub i64 0, %".153"
  %".185" = select  i1 %".183", i64 %".184", i64 0
  %".186" = sub i64 32, %".153"
  %".187" = icmp slt i64 %".186", 32
  %".188" = select  i1 %".187", i64 %".186", i64 32
  br label %"loop.10"
loop.9:
  %"i.9" = phi  i64 [0, %"body.8"], [%".173", %"body.9"]
  %".167" = icmp slt i64 %"i.9", 32
  br i1 %".167", label %"body.9", label %"done.9"
body.9:
  %".169" = mul i64 %"i.8", 32
  %".170" = add i64 %".169", %"i.9"
  %".171" = getelementptr inbounds float, ptr %".160", i64 %".170"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".171", align 4
  %".173" = add i64 %"i.9", 16
  br label %"loop.9"
done.9:
  %".175" = add i64 %"i.8", 1
  br label %"loop.8"
loop.10:
  %"i.10" = phi  i64 [%".179", %"done.8"], [%".207", %"done.11"]
  %".190" = icmp slt i64 %"i.10", %".182"
  br i1 %".190", label %"body.10", label %"done.10"
body.10:
  br label %"loop.11"
done.10:
  br label %"end.3"
loop.11:
  %"i.11" = phi  i64 [%".185", %"body.10"], [%".205", %"body.11"]
  %".193" = icmp slt i64 %"i.11", %".188"
  br i1 %".193", label %"body.11", label %"done.11"
body.11:
  %".195" = add i64 %".152", %"i.10"
  %".196" = add i64 %".153", %"i.11"
  %".197" = mul i64 %".195", 32
  %".198" = add i64 %".197", %".196"
  %".199" = getelementptr inbounds float, ptr %".18", i64 %".198"
  %".200" = load float, ptr %".199", align 4
  %".201" = mul i64 %"i.10", 32
  %".202" = add i64 %".201", %"i.11"
  %".203" = getelementptr inbounds float, ptr %".160", i64 %".202"
  store float %".200", ptr %".203", align 4
  %".205" = add i64 %"i.11", 1
  br label %"loop.11"
done.11:
  %".207" = add i64 %"i.10", 1
  br label %"loop.10"
loop.12:
  %"i.12" = phi  i64 [0, %"end.3"], [%".258", %"done.13"]
  %".215" = icmp slt i64 %"i.12", 4
  br i1 %".215", label %"body.12", label %"done.12"
body.12:
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".212"
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".213"
  br label %"loop.13"
done.12:
  %".260" = getelementptr i8, ptr %".3", i64 1344
  br label %"loop.14"
loop.13:
  %"i.13" = phi  i64 [0, %"body.12"], [%".237", %"body.13"]
  %".220" = icmp slt i64 %"i.13", 32
  br i1 %".220", label %"body.13", label %"done.13"
body.13:
  %".222" = mul i64 %"i.12", 32
  %".223" = add i64 %".222", %"i.13"
  %".224" = getelementptr inbounds float, ptr %".82", i64 %".223"
  %".225" = load <16 x float>, ptr %".224", align 4
  %".226" = load <16 x float>, <16 x float>* %".212"
  %".227" = fadd <16 x float> %".226", %".225"
  store <16 x float> %".227", <16 x float>* %".212"
  %".229" = add i64 %"i.13", 16
  %".230" = mul i64 %"i.12", 32
  %".231" = add i64 %".230", %".229"
  %".232" = getelementptr inbounds float, ptr %".82", i64 %".231"
  %".233" = load <16 x float>, ptr %".232", align 4
  %".234" = load <16 x float>, <16 x float>* %".213"
  %".235" = fadd <16 x float> %".234", %".233"
  store <16 x float> %".235", <16 x float>* %".213"
  %".237" = add i64 %"i.13", 32
  br label %"loop.13"
done.13:
  %".239" = load <16 x float>, <16 x float>* %".212"
  %".240" = load <16 x float>, <16 x float>* %".213"
  %".241" = fadd <16 x float> %".239", %".240"
  %".242" = shufflevector <16 x float> %".241", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".243" = shufflevector <16 x float> %".241", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".244" = fadd <8 x float> %".242", %".243"
  %".245" = shufflevector <8 x float> %".244", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".246" = shufflevector <8 x float> %".244", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".247" = fadd <4 x float> %".245", %".246"
  %".248" = shufflevector <4 x float> %".247", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".249" = shufflevector <4 x float> %".247", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".250" = fadd <2 x float> %".248", %".249"
  %".251" = shufflevector <2 x float> %".250", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".252" = shufflevector <2 x float> %".250", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".253" = extractelement <1 x float> %".251", i32 0
  %".254" = extractelement <1 x float> %".252", i32 0
  %".255" = fadd float %".253", %".254"
  %".256" = getelementptr inbounds float, ptr %".211", i64 %"i.12"
  store float %".255", ptr %".256", align 4
  %".258" = add i64 %"i.12", 1
  br label %"loop.12"
loop.14:
  %"i.14" = phi  i64 [0, %"done.12"], [%".283", %"done.15"]
  %".262" = icmp slt i64 %"i.14", 4
  br i1 %".262", label %"body.14", label %"done.14"
body.14:
  %".264" = getelementptr inbounds float, ptr %".211", i64 %"i.14"
  %".265" = load float, ptr %".264", align 4
  %".266" = fmul float %".265", 0x3fa0000000000000
  br label %"loop.15"
done.14:
  %".285" = getelementptr i8, ptr %".3", i64 1856
  br label %"loop.16"
loop.15:
  %"i.15" = phi  i64 [0, %"body.14"], [%".281", %"body.15"]
  %".268" = icmp slt i64 %"i.15", 32
  br i1 %".268", label %"body.15", label %"done.15"
body.15:
  %".270" = mul i64 %"i.14", 32
  %".271" = add i64 %".270", %"i.15"
  %".272" = getelementptr inbounds float, ptr %".82", i64 %".271"
  %".273" = load <16 x float>, ptr %".272", align 4
  %".274" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".266", i32 0
  %".275" = shufflevector <16 x float> %".274", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".276" = fsub <16 x float> %".273", %".275"
  %".277" = mul i64 %"i.14", 32
  %".278" = add i64 %".277", %"i.15"
  %".279" = getelementptr inbounds float, ptr %".260", i64 %".278"
  store <16 x float> %".276", ptr %".279", align 4
  %".281" = add i64 %"i.15", 16
  br label %"loop.15"
done.15:
  %".283" = add i64 %"i.14", 1
  br label %"loop.14"
loop.16:
  %"i.16" = phi  i64 [0, %"done.14"], [%".334", %"done.17"]
  %".289" = icmp slt i64 %"i.16", 4
  br i1 %".289", label %"body.16", label %"done.16"
body.16:
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".286"
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".287"
  br label %"loop.17"
done.16:
  br label %"loop.18"
loop.17:
  %"i.17" = phi  i64 [0, %"body.16"], [%".313", %"body.17"]
  %".294" = icmp slt i64 %"i.17", 32
  br i1 %".294", label %"body.17", label %"done.17"
body.17:
  %".296" = mul i64 %"i.16", 32
  %".297" = add i64 %".296", %"i.17"
  %".298" = getelementptr inbounds float, ptr %".260", i64 %".297"
  %".299" = load <16 x float>, ptr %".298", align 4
  %".300" = fmul <16 x float> %".299", %".299"
  %".301" = load <16 x float>, <16 x float>* %".286"
  %".302" = fadd <16 x float> %".301", %".300"
  store <16 x float> %".302", <16 x float>* %".286"
  %".304" = add i64 %"i.17", 16
  %".305" = mul i64 %"i.16", 32
  %".306" = add i64 %".305", %".304"
  %".307" = getelementptr inbounds float, ptr %".260", i64 %".306"
  %".308" = load <16 x float>, ptr %".307", align 4
  %".309" = fmul <16 x float> %".308", %".308"
  %".310" = load <16 x float>, <16 x float>* %".287"
  %".311" = fadd <16 x float> %".310", %".309"
  store <16 x float> %".311", <16 x float>* %".287"
  %".313" = add i64 %"i.17", 32
  br label %"loop.17"
done.17:
  %".315" = load <16 x float>, <16 x float>* %".286"
  %".316" = load <16 x float>, <16 x float>* %".287"
  %".317" = fadd <16 x float> %".315", %".316"
  %".318" = shufflevector <16 x float> %".317", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".319" = shufflevector <16 x float> %".317", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".320" = fadd <8 x float> %".318", %".319"
  %".321" = shufflevector <8 x float> %".320", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".322" = shufflevector <8 x float> %".320", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".323" = fadd <4 x float> %".321", %".322"
  %".324" = shufflevector <4 x float> %".323", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".325" = shufflevector <4 x float> %".323", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".326" = fadd <2 x float> %".324", %".325"
  %".327" = shufflevector <2 x float> %".326", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".328" = shufflevector <2 x float> %".326", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".329" = extractelement <1 x float> %".327", i32 0
  %".330" = extractelement <1 x float> %".328", i32 0
  %".331" = fadd float %".329", %".330"
  %".332" = getelementptr inbounds float, ptr %".285", i64 %"i.16"
  store float %".331", ptr %".332", align 4
  %".334" = add i64 %"i.16", 1
  br label %"loop.16"
loop.18:
  %"i.18" = phi  i64 [0, %"done.16"], [%".367", %"done.19"]
  %".337" = icmp slt i64 %"i.18", 4
  br i1 %".337", label %"body.18", label %"done.18"
body.18:
  %".339" = getelementptr inbounds float, ptr %".285", i64 %"i.18"
  %".340" = load float, ptr %".339", align 4
  %".341" = fmul float %".340", 0x3fa0000000000000
  %".342" = fadd float %".341", 0x3ee4f8b580000000
  %".343" = call float @"llvm.sqrt.f32"(float %".342")
  %".344" = fdiv float 0x3ff0000000000000, %".343"
  br label %"loop.19"
done.18:
  br i1 %".161", label %"then.4", label %"end.4"
loop.19:
  %"i.19" = phi  i64 [0, %"body.18"], [%".365", %"body.19"]
  %".346" = icmp slt i64 %"i.19", 32
  br i1 %".346", label %"body.19", label %"done.19"
body.19:
  %".348" = mul i64 %"i.18", 32
  %".349" = add i64 %".348", %"i.19"
  %".350" = getelementptr inbounds float, ptr %".260", i64 %".349"
  %".351" = load <16 x float>, ptr %".350", align 4
  %".352" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".344", i32 0
  %".353" = shufflevector <16 x float> %".352", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".354" = fmul <16 x float> %".351", %".353"
  %".355" = getelementptr inbounds float, ptr %".115", i64 %"i.19"
  %".356" = load <16 x float>, ptr %".355", align 4
  %".357" = fmul <16 x float> %".354", %".356"
  %".358" = getelementptr inbounds float, ptr %".148", i64 %"i.19"
  %".359" = load <16 x float>, ptr %".358", align 4
  %".360" = fadd <16 x float> %".357", %".359"
  %".361" = mul i64 %"i.18", 32
  %".362" = add i64 %".361", %"i.19"
  %".363" = getelementptr inbounds float, ptr %".210", i64 %".362"
  store <16 x float> %".360", ptr %".363", align 4
  %".365" = add i64 %"i.19", 16
  br label %"loop.19"
done.19:
  %".367" = add i64 %"i.18", 1
  br label %"loop.18"
then.4:
  %".370" = icmp slt i64 %".152", 0
  %".371" = sub i64 0, %".152"
  %".372" = select  i1 %".370", i64 %".371", i64 0
  %".373" = sub i64 4, %".152"
  %".374" = icmp slt i64 %".373", 4
  %".375" = select  i1 %".374", i64 %".373", i64 4
  %".376" = icmp slt i64 %".153", 0
  %".377" = sub i64 0, %".153"
  %".378" = select  i1 %".376", i64 %".377", i64 0
  %".379" = sub i64 32, %".153"
  %".380" = icmp slt i64 %".379", 32
  %".381" = select  i1 %".380", i64 %".379", i64 32
  br label %"loop.20"
end.4:
  ret void
loop.20:
  %"i.20" = phi  i64 [%".372", %"then.4"], [%".400", %"done.21"]
  %".383" = icmp slt i64 %"i.20", %".375"
  br i1 %".383", label %"body.20", label %"done.20"
body.20:
  br label %"loop.21"
done.20:
  br label %"end.4"
loop.21:
  %"i.21" = phi  i64 [%".378", %"body.20"], [%".398", %"body.21"]
  %".386" = icmp slt i64 %"i.21", %".381"
  br i1 %".386", label %"body.21", label %"done.21"
body.21:
  %".388" = add i64 %".152", %"i.20"
  %".389" = add i64 %".153", %"i.21"
  %".390" = mul i64 %"i.20", 32
  %".391" = add i64 %".390", %"i.21"
  %".392" = getelementptr inbounds float, ptr %".160", i64 %".391"
  %".393" = load float, ptr %".392", align 4
  %".394" = mul i64 %".388", 32
  %".395" = add i64 %".394", %".389"
  %".396" = getelementptr inbounds float, ptr %".18", i64 %".395"
  store float %".393", ptr %".396", align 4
  %".398" = add i64 %"i.21", 1
  br label %"loop.21"
done.21:
  %".400" = add i64 %"i.20", 1
  br label %"loop.20"
}
