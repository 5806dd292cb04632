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
  %".12" = urem i64 %".4", %".11"
  %".13" = udiv i64 %".4", %".11"
  %".14" = urem i64 %".13", %".9"
  %".15" = udiv i64 %".13", %".9"
  %".16" = urem i64 %".15", %".7"
  %".17" = udiv i64 %".15", %".7"
  %".18" = getelementptr ptr, ptr %".1", i64 0
  %".19" = load ptr, ptr %".18"
  %".20" = getelementptr ptr, ptr %".1", i64 1
  %".21" = load ptr, ptr %".20"
  %".22" = getelementptr ptr, ptr %".1", i64 2
  %".23" = load ptr, ptr %".22"
  %".24" = getelementptr ptr, ptr %".1", i64 3
  %".25" = load ptr, ptr %".24"
  %".26" = trunc i64 %".16" to i32
  %".27" = trunc i64 %".14" to i32
  %".28" = trunc i64 %".12" to i32
  %".29" = trunc i64 %".7" to i32
  %".30" = trunc i64 %".9" to i32
  %".31" = trunc i64 %".11" to i32
  %".32" = trunc i64 %".16" to i32
  %".33" = trunc i64 %".14" to i32
  %".34" = trunc i64 %".12" to i32
  %".35" = sext i32 %".32" to i64
  %".36" = sext i32 %".34" to i64
  %".37" = mul i64 %".35", 4
  %".38" = mul i64 %".36", 8
  %".39" = icmp ule i64 %".37", 0
  %".40" = icmp ule i64 %".38", 0
  %".41" = and i1 %".39", %".40"
  %".42" = mul i64 %".37", 8
  %".43" = add i64 %".42", %".38"
  %".44" = getelementptr float, ptr %".19", i64 %".43"
  %".45" = getelementptr i8, ptr %".3", i64 0
  %".46" = xor i1 %".41", -1
  br i1 %".46", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".89" = select  i1 %".41", ptr %".44", ptr %".45"
  %".90" = trunc i64 %".16" to i32
  %".91" = trunc i64 %".14" to i32
  %".92" = trunc i64 %".12" to i32
  %".93" = sext i32 %".92" to i64
  %".94" = sext i32 %".91" to i64
  %".95" = mul i64 %".93", 8
  %".96" = mul i64 %".94", 16
  %".97" = icmp ule i64 %".95", 0
  %".98" = icmp ule i64 %".96", 0
  %".99" = and i1 %".97", %".98"
  %".100" = mul i64 %".95", 16
  %".101" = add i64 %".100", %".96"
  %".102" = getelementptr float, ptr %".21", i64 %".101"
  %".103" = getelementptr i8, ptr %".3", i64 128
  %".104" = xor i1 %".99", -1
  br i1 %".104", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".54", %"body"]
  %".49" = icmp slt i64 %"i", 4
  br i1 %".49", label %"body", label %"done"
body:
  %".51" = mul i64 %"i", 8
  %".52" = getelementptr inbounds float, ptr %".45", i64 %".51"
  store <8 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".52", align 4
  %".54" = add i64 %"i", 1
  br label %"loop"
done:
  %".56" = icmp slt i64 %".37", 0
  %".57" = sub i64 0, %".37"
  %".58" = select  i1 %".56", i64 %".57", i64 0
  %".59" = sub i64 4, %".37"
  %".60" = icmp slt i64 %".59", 4
  %".61" = select  i1 %".60", i64 %".59", i64 4
  %".62" = icmp slt i64 %".38", 0
  %".63" = sub i64 0, %".38"
  %".64" = select  i1 %".62", i64 %".63", i64 0
  %".65" = sub i64 8, %".38"
  %".66" = icmp slt i64 %".65", 8
  %".67" = select  i1 %".66", i64 %".65", i64 8
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [%".58", %"done"], [%".86", %"done.2"]
  %".69" = icmp slt i64 %"i.1", %".61"
  br i1 %".69", label %"body.1", label %"done.1"
body.1:
  br label %"loop.2"
done.1:
  br label %"end"
loop.2:
  %"i.2" = phi  i64 [%".64", %"body.1"], [%".84", %"body.2"]
  %".72" = icmp slt i64 %"i.2", %".67"
  br i1 %".72", label %"body.2", label %"done.2"
body.2:
  %".74" = add i64 %".37", %"i.1"
  %".75" = add i64 %".38", %"i.2"
  %".76" = mul i64 %".74", 8
  %".77" = add i64 %".76", %".75"
  %".78" = getelementptr inbounds float, ptr %".19", i64 %".77"
  %".79" = load float, ptr %".78", align 4
  %".80" = mul i64 %"i.1", 8
  %".81" = add i64 %".80", %"i.2"
  %".82" = getelementptr inbounds float, ptr %".45", i64 %".81"
  store float %".79", ptr %".82", align 4
  %".84" = add i64 %"i.2", 1
  br label %"loop.2"
done.2:
  %".86" = add i64 %"i.1", 1
  br label %"loop.1"
then.1:
  br label %"loop.3"
end.1:
  %".147" = select  i1 %".99", ptr %".102", ptr %".103"
  %".148" = trunc i64 %".16" to i32
  %".149" = trunc i64 %".14" to i32
  %".150" = trunc i64 %".12" to i32
  %".151" = sext i32 0 to i64
  %".152" = sext i32 %".149" to i64
  %".153" = mul i64 %".152", 16
  %".154" = icmp ule i64 %".151", 0
  %".155" = icmp ule i64 %".153", 0
  %".156" = and i1 %".154", %".155"
  %".157" = mul i64 %".151", 16
  %".158" = add i64 %".157", %".153"
  %".159" = getelementptr float, ptr %".23", i64 %".158"
  %".160" = getelementptr i8, ptr %".3", i64 640
  %".161" = xor i1 %".156", -1
  br i1 %".161", label %"then.2", label %"end.2"
loop.3:
  %"i.3" = phi  i64 [0, %"then.1"], [%".112", %"body.3"]
  %".107" = icmp slt i64 %"i.3", 8
  br i1 %".107", label %"body.3", label %"done.3"
body.3:
  %".109" = mul i64 %"i.3", 16
  %".110" = getelementptr inbounds float, ptr %".103", i64 %".109"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".110", align 4
  %".112" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".114" = icmp slt i64 %".95", 0
  %".115" = sub i64 0, %".95"
  %".116" = select  i1 %".114", i64 %".115", i64 0
  %".117" = sub i64 8, %".95"
  %".118" = icmp slt i64 %".117", 8
  %".119" = select  i1 %".118", i64 %".117", i64 8
  %".120" = icmp slt i64 %".96", 0
  %".121" = sub i64 0, %".96"
  %".122" = select  i1 %".120", i64 %".121", i64 0
  %".123" = sub i64 16, %".96"
  %".124" = icmp slt i64 %".123", 16
  %".125" = select  i1 %".124", i64 %".123", i64 16
  br label %"loop.4"
loop.4:
  %"i.4" = phi  i64 [%".116", %"done.3"], [%".144", %"done.5"]
  %".127" = icmp slt i64 %"i.4", %".119"
  br i1 %".127", label %"body.4", label %"done.4"
body.4:
  br label %"loop.5"
done.4:
  br label %"end.1"
loop.5:
  %"i.5" = phi  i64 [%".122", %"body.4"], [%".142", %"body.5"]
  %".130" = icmp slt i64 %"i.5", %".125"
  br i1 %".130", label %"body.5", label %"done.5"
body.5:
  %".132" = add i64 %".95", %"i.4"
  %".133" = add i64 %".96", %"i.5"
  %".134" = mul i64 %".132", 16
  %".135" = add i64 %".134", %".133"
  %".136" = getelementptr inbounds float, ptr %".21", i64 %".135"
  %".137" = load float, ptr %".136", align 4
  %".138" = mul i64 %"i.4", 16
  %".139" = add i64 %".138", %"i.5"
  %".140" = getelementptr inbounds float, ptr %".103", i64 %".139"
  store float %".137", ptr %".140", align 4
  %".142" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  %".144" = add i64 %"i.4", 1
  br label %"loop.4"
then.2:
  %".163" = getelementptr inbounds float, ptr %".160", i64 0
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".163", align 4
  %".165" = icmp slt i64 %".151", 0
  %".166" = sub i64 0, %".151"
  %".167" = select  i1 %".165", i64 %".166", i64 0
  %".168" = sub i64 1, %".151"
  %".169" = icmp slt i64 %".168", 1
  %".170" = select  i1 %".169", i64 %".168", i64 1
  %".171" = icmp slt i64 %".153", 0
  %".172" = sub i64 0, %".153"
  %".173" = select  i1 %".171", i64 %".172", i64 0
  %".174" = sub i64 16, %".153"
  %".175" = icmp slt i64 %".174", 16
  %".176" = select  i1 %".175", i64 %".174", i64 16
  br label %"loop.6"
end.2:
  %".198" = select  i1 %".156", ptr %".159", ptr %".160"
  %".199" = trunc i64 %".16" to i32
  %".200" = trunc i64 %".14" to i32
  %".201" = trunc i64 %".12" to i32
  %".202" = sext i32 %".199" to i64
  %".203" = sext i32 %".200" to i64
  %".204" = mul i64 %".202", 4
  %".205" = mul i64 %".203", 16
  %".206" = icmp ule i64 %".204", 0
  %".207" = icmp ule i64 %".205", 0
  %".208" = and i1 %".206", %".207"
  %".209" = mul i64 %".204", 16
  %".210" = add i64 %".209", %".205"
  %".211" = getelementptr float, ptr %".25", i64 %".210"
  %".212" = getelementptr i8, ptr %".3", i64 704
  %".213" = xor i1 %".208", -1
  br i1 %".213", label %"then.3", label %"end.3"
loop.6:
  %"i.6" = phi  i64 [%".167", %"then.2"], [%".195", %"done.7"]
  %".178" = icmp slt i64 %"i.6", %".170"
  br i1 %".178", label %"body.6", label %"done.6"
body.6:
  br label %"loop.7"
done.6:
  br label %"end.2"
loop.7:
  %"i.7" = phi  i64 [%".173", %"body.6"], [%".193", %"body.7"]
  %".181" = icmp slt i64 %"i.7", %".176"
  br i1 %".181", label %"body.7", label %"done.7"
body.7:
  %".183" = add i64 %".151", %"i.6"
  %".184" = add i64 %".153", %"i.7"
  %".185" = mul i64 %".183", 16
  %".186" = add i64 %".185", %".184"
  %".187" = getelementptr inbounds float, ptr %".23", i64 %".186"
  %".188" = load float, ptr %".187", align 4
  %".189" = mul i64 %"i.6", 16
  %".190" = add i64 %".189", %"i.7"
  %".191" = getelementptr inbounds float, ptr %".160", i64 %".190"
  store float %".188", ptr %".191", align 4
  %".193" = add i64 %"i.7", 1
  br label %"loop.7"
done.7:
  %".195" = add i64 %"i.6", 1
  br label %"loop.6"
then.3:
  br label %"loop.8"
end.3:
  %".256" = select  i1 %".208", ptr %".211", ptr %".212"
  %".257" = getelementptr i8, ptr %".3", i64 960
  %".258" = getelementptr i8, ptr %".3", i64 1472
  br label %"loop.11"
loop.8:
  %"i.8" = phi  i64 [0, %"then.3"], [%".221", %"body.8"]
  %".216" = icmp slt i64 %"i.8", 4
  br i1 %".216", label %"body.8", label %"done.8"
body.8:
  %".218" = mul i64 %"i.8", 16
  %".219" = getelementptr inbounds float, ptr %".212", i64 %".218"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".219", align 4
  %".221" = add i64 %"i.8", 1
  br label %"loop.8"
done.8:
  %".223" = icmp slt i64 %".204", 0
  %".224" = sub i64 0, %".204"
  %".225" = select  i1 %".223", i64 %".224", i64 0
  %".226" = sub i64 4, %".204"
  %".227" = icmp slt i64 %".226", 4
  %".228" = select  i1 %".227", i64 %".226", i64 4
  %".229" = icmp slt i64 %".205", 0
  %".230" = sub i64 0, %".205"
  %".231" = select  i1 %".229", i64 %".230", i64 0
  %".232" = sub i64 16, %".205"
  %".233" = icmp slt i64 %".232", 16
  %".234" = select  i1 %".233", i64 %".232", i64 16
  br label %"loop.9"
loop.9:
  %"i.9" = phi  i64 [%".225", %"done.8"], [%".253", %"done.10"]
  %".236" = icmp slt i64 %"i.9", %".228"
  br i1 %".236", label %"body.9", label %"done.9"
body.9:
  br label %"loop.10"
done.9:
  br label %"end.3"
loop.10:
  %"i.10" = phi  i64 [%".231", %"body.9"], [%".251", %"body.10"]
  %".239" = icmp slt i64 %"i.10", %".234"
  br i1 %".239", label %"body.10", label %"done.10"
body.10:
  %".241" = add i64 %".204", %"i.9"
  %".242" = add i64 %".205", %"i.10"
  %".243" = mul i64 %".241", 16
  %".244" = add i64 %".243", %".242"
  %".245" = getelementptr inbounds float, ptr %".25", i64 %".244"
  %".246" = load float, ptr %".245", align 4
  %".247" = mul i64 %"i.9", 16
  %".248" = add i64 %".247", %"i.10"
  %".249" = getelementptr inbounds float, ptr %".212", i64 %".248"
  store float %".246", ptr %".249", align 4
  %".251" = add i64 %"i.10", 1
  br label %"loop.10"
done.10:
  %".253" = add i64 %"i.9", 1
  br label %"loop.9"
loop.11:
  %"i.11" = phi  i64 [0, %"end.3"], [%".342", %"done.12"]
  %".260" = icmp slt i64 %"i.11", 16
  br i1 %".260", label %"body.11", label %"done.11"
body.11:
  br label %"k"
done.11:
  br i1 %".213", label %"then.4", label %"end.4"
k:
  %".263" = phi  i64 [0, %"body.11"], [%".304", %"k.body"]
  %".264" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.11"], [%".285", %"k.body"]
  %".265" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.11"], [%".291", %"k.body"]
  %".266" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.11"], [%".297", %"k.body"]
  %".267" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.11"], [%".303", %"k.body"]
  %".268" = icmp slt i64 %".263", 8
  br i1 %".268", label %"k.body", label %"k.done"
k.body:
  %".270" = add i64 %".263", 32
  %".271" = icmp slt i64 %".270", 7
  %".272" = select  i1 %".271", i64 %".270", i64 7
  %".273" = mul i64 %".272", 16
  %".274" = add i64 %".273", %"i.11"
  %".275" = getelementptr inbounds float, ptr %".147", i64 %".274"
  call void @"llvm.prefetch.p0"(ptr %".275", i32 0, i32 3, i32 1)
  %".277" = mul i64 %".263", 16
  %".278" = add i64 %".277", %"i.11"
  %".279" = getelementptr inbounds float, ptr %".147", i64 %".278"
  %".280" = load <16 x float>, ptr %".279", align 4
  %".281" = getelementptr inbounds float, ptr %".89", i64 %".263"
  %".282" = load float, ptr %".281", align 4
  %".283" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".282", i32 0
  %".284" = shufflevector <16 x float> %".283", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".285" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".284", <16 x float> %".280", <16 x float> %".264")
  %".286" = add i64 8, %".263"
  %".287" = getelementptr inbounds float, ptr %".89", i64 %".286"
  %".288" = load float, ptr %".287", align 4
  %".289" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".288", i32 0
  %".290" = shufflevector <16 x float> %".289", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".291" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".290", <16 x float> %".280", <16 x float> %".265")
  %".292" = add i64 16, %".263"
  %".293" = getelementptr inbounds float, ptr %".89", i64 %".292"
  %".294" = load float, ptr %".293", align 4
  %".295" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".294", i32 0
  %".296" = shufflevector <16 x float> %".295", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".297" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".296", <16 x float> %".280", <16 x float> %".266")
  %".298" = add i64 24, %".263"
  %".299" = getelementptr inbounds float, ptr %".89", i64 %".298"
  %".300" = load float, ptr %".299", align 4
  %".301" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".300", i32 0
  %".302" = shufflevector <16 x float> %".301", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".303" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".302", <16 x float> %".280", <16 x float> %".267")
  %".304" = add i64 %".263", 1
  br label %"k"
k.done:
  %".306" = getelementptr inbounds float, ptr %".257", i64 0
  store <16 x float> %".264", ptr %".306", align 4
  %".308" = getelementptr inbounds float, ptr %".257", i64 32
  store <16 x float> %".265", ptr %".308", align 4
  %".310" = getelementptr inbounds float, ptr %".257", i64 64
  store <16 x float> %".266", ptr %".310", align 4
  %".312" = getelementptr inbounds float, ptr %".257", i64 96
  store <16 x float> %".267", ptr %".312", align 4
  br label %"loop.12"
loop.12:
  %"i.12" = phi  i64 [0, %"k.done"], [%".340", %"body.12"]
  %".315" = icmp slt i64 %"i.12", 4
  br i1 %".315", label %"body.12", label %"done.12"
body.12:
  %".317" = mul i64 %"i.12", 32
  %".318" = getelementptr inbounds float, ptr %".257", i64 %".317"
  %".319" = load <16 x float>, ptr %".318", align 4
  %".320" = getelementptr inbounds float, ptr %".198", i64 %"i.11"
  %".321" = load <16 x float>, ptr %".320", align 4
  %".322" = fadd <16 x float> %".319", %".321"
  %".323" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float 0x3fa2444f20000000, i32 0
  %".324" = shufflevector <16 x float> %".323", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".325" = fmul <16 x float> %".322", %".324"
  %".326" = fmul <16 x float> %".325", %".322"
  %".327" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float 0x3fe9884540000000, i32 0
  %".328" = shufflevector <16 x float> %".327", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".329" = fadd <16 x float> %".326", %".328"
  %".330" = fmul <16 x float> %".322", %".329"
  %".331" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float 0x4000000000000000, i32 0
  %".332" = shufflevector <16 x float> %".331", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".333" = fmul <16 x float> %".330", %".332"
  %".334" = call <16 x float> @"tilewright.logistic.v16f32"(<16 x float> %".333")
  %".335" = fmul <16 x float> %".322", %".334"
  %".336" = mul i64 %"i.12", 16
  %".337" = add i64 %".336", %"i.11"
  %".338" = getelementptr inbounds float, ptr %".256", i64 %".337"
  store <16 x float> %".335", ptr %".338", align 4
  %".340" = add i64 %"i.12", 1
  br label %"loop.12"
done.12:
  %".342" = add i64 %"i.11", 16
  br label %"loop.11"
then.4:
  %".345" = icmp slt i64 %".204", 0
  %".346" = sub i64 0, %".204"
  %".347" = select  i1 %".345", i64 %".346", i64 0
  %".348" = sub i64 4, %".204"
  %".349" = icmp slt i64 %".348", 4
  %".350" = select  i1 %".349", i64 %".348", i64 4
  %".351" = icmp slt i64 %".205", 0
  %".352" = sub i64 0, %".205"
  %".353" = select  i1 %".351", i64 %".352", i64 0
  %".354" = sub i64 16, %".205"
  %".355" = icmp slt i64 %".354", 16
  %".356" = select  i1 %".355", i64 %".354", i64 16
  br label %"loop.13"
end.4:
  ret void
loop.13:
  %"i.13" = phi  i64 [%".347", %"then.4"], [%".375", %"done.14"]
  %".358" = icmp slt i64 %"i.13", %".350"
  br i1 %".358", label %"body.13", label %"done.13"
body.13:
  br label %"loop.14"
done.13:
  br label %"end.4"
loop.14:
  %"i.14" = phi  i64 [%".353", %"body.13"], [%".373", %"body.14"]
  %".361" = icmp slt i64 %"i.14", %".356"
  br i1 %".361", label %"body.14", label %"done.14"
body.14:
  %".363" = add i64 %".204", %"i.13"
  %".364" = add i64 %".205", %"i.14"
  %".365" = mul i64 %"i.13", 16
  %".366" = add i64 %".365", %"i.14"
  %".367" = getelementptr inbounds float, ptr %".212", i64 %".366"
  %".368" = load float, ptr %".367", align 4
  %".369" = mul i64 %".363", 16
  %".370" = add i64 %".369", %".364"
  %".371" = getelementptr inbounds float, ptr %".25", i64 %".370"
  store float %".368", ptr %".371", align 4
  %".373" = add i64 %"i.14", 1
  br label %"loop.14"
done.14:
  %".375" = add i64 %"i.13", 1
  br label %"loop.13"
}
