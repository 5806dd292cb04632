; x86-64-v4
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
  %".13" = urem i64 %".4", %".12"
  %".14" = udiv i64 %".4", %".12"
  %".15" = urem i64 %".14", %".10"
  %".16" = udiv i64 %".14", %".10"
  %".17" = urem i64 %".16", %".8"
  %".18" = udiv i64 %".16", %".8"
  %".19" = getelementptr ptr, ptr %".1", i64 0
  %".20" = load ptr, ptr %".19"
  %".21" = getelementptr ptr, ptr %".1", i64 1
  %".22" = load ptr, ptr %".21"
  %".23" = getelementptr ptr, ptr %".1", i64 2
  %".24" = load ptr, ptr %".23"
  %".25" = getelementptr ptr, ptr %".1", i64 3
  %".26" = load ptr, ptr %".25"
  %".27" = trunc i64 %".17" to i32
  %".28" = trunc i64 %".15" to i32
  %".29" = trunc i64 %".13" to i32
  %".30" = trunc i64 %".8" to i32
  %".31" = trunc i64 %".10" to i32
  %".32" = trunc i64 %".12" to i32
  %".33" = trunc i64 %".17" to i32
  %".34" = trunc i64 %".15" to i32
  %".35" = trunc i64 %".13" to i32
  %".36" = sext i32 %".33" to i64
  %".37" = sext i32 %".35" to i64
  %".38" = mul i64 %".36", 4
  %".39" = mul i64 %".37", 8
  %".40" = icmp ule i64 %".38", 0
  %".41" = icmp ule i64 %".39", 0
  %".42" = and i1 %".40", %".41"
  %".43" = mul i64 %".38", 8
  %".44" = add i64 %".43", %".39"
  %".45" = getelementptr float, ptr %".20", i64 %".44"
  %".46" = getelementptr i8, ptr %".3", i64 0
  %".47" = xor i1 %".42", -1
  br i1 %".47", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".90" = select  i1 %".42", ptr %".45", ptr %".46"
  %".91" = trunc i64 %".17" to i32
  %".92" = trunc i64 %".15" to i32
  %".93" = trunc i64 %".13" to i32
  %".94" = sext i32 %".93" to i64
  %".95" = sext i32 %".92" to i64
  %".96" = mul i64 %".94", 8
  %".97" = mul i64 %".95", 16
  %".98" = icmp ule i64 %".96", 0
  %".99" = icmp ule i64 %".97", 0
  %".100" = and i1 %".98", %".99"
  %".101" = mul i64 %".96", 16
  %".102" = add i64 %".101", %".97"
  %".103" = getelementptr float, ptr %".22", i64 %".102"
  %".104" = getelementptr i8, ptr %".3", i64 128
  %".105" = xor i1 %".100", -1
  br i1 %".105", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".55", %"body"]
  %".50" = icmp slt i64 %"i", 4
  br i1 %".50", label %"body", label %"done"
body:
  %".52" = mul i64 %"i", 8
  %".53" = getelementptr inbounds float, ptr %".46", i64 %".52"
  store <8 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".53", align 4
  %".55" = add i64 %"i", 1
  br label %"loop"
done:
  %".57" = icmp slt i64 %".38", 0
  %".58" = sub i64 0, %".38"
  %".59" = select  i1 %".57", i64 %".58", i64 0
  %".60" = sub i64 4, %".38"
  %".61" = icmp slt i64 %".60", 4
  %".62" = select  i1 %".61", i64 %".60", i64 4
  %".63" = icmp slt i64 %".39", 0
  %".64" = sub i64 0, %".39"
  %".65" = select  i1 %".63", i64 %".64", i64 0
  %".66" = sub i64 8, %".39"
  %".67" = icmp slt i64 %".66", 8
  %".68" = select  i1 %".67", i64 %".66", i64 8
  br label %"loop.1"
loop.1:
  %"i.1" = phi  i64 [%".59", %"done"], [%".87", %"done.2"]
  %".70" = icmp slt i64 %"i.1", %".62"
  br i1 %".70", label %"body.1", label %"done.1"
body.1:
  br label %"loop.2"
done.1:
  br label %"end"
loop.2:
  %"i.2" = phi  i64 [%".65", %"body.1"], [%".85", %"body.2"]
  %".73" = icmp slt i64 %"i.2", %".68"
  br i1 %".73", label %"body.2", label %"done.2"
body.2:
  %".75" = add i64 %".38", %"i.1"
  %".76" = add i64 %".39", %"i.2"
  %".77" = mul i64 %".75", 8
  %".78" = add i64 %".77", %".76"
  %".79" = getelementptr inbounds float, ptr %".20", i64 %".78"
  %".80" = load float, ptr %".79", align 4
  %".81" = mul i64 %"i.1", 8
  %".82" = add i64 %".81", %"i.2"
  %".83" = getelementptr inbounds float, ptr %".46", i64 %".82"
  store float %".80", ptr %".83", align 4
  %".85" = add i64 %"i.2", 1
  br label %"loop.2"
done.2:
  %".87" = add i64 %"i.1", 1
  br label %"loop.1"
then.1:
  br label %"loop.3"
end.1:
  %".148" = select  i1 %".100", ptr %".103", ptr %".104"
  %".149" = trunc i64 %".17" to i32
  %".150" = trunc i64 %".15" to i32
  %".151" = trunc i64 %".13" to i32
  %".152" = sext i32 0 to i64
  %".153" = sext i32 %".150" to i64
  %".154" = mul i64 %".153", 16
  %".155" = icmp ule i64 %".152", 0
  %".156" = icmp ule i64 %".154", 0
  %".157" = and i1 %".155", %".156"
  %".158" = mul i64 %".152", 16
  %".159" = add i64 %".158", %".154"
  %".160" = getelementptr float, ptr %".24", i64 %".159"
  %".161" = getelementptr i8, ptr %".3", i64 640
  %".162" = xor i1 %".157", -1
  br i1 %".162", label %"then.2", label %"end.2"
loop.3:
  %"i.3" = phi  i64 [0, %"then.1"], [%".113", %"body.3"]
  %".108" = icmp slt i64 %"i.3", 8
  br i1 %".108", label %"body.3", label %"done.3"
body.3:
  %".110" = mul i64 %"i.3", 16
  %".111" = getelementptr inbounds float, ptr %".104", i64 %".110"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".111", align 4
  %".113" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".115" = icmp slt i64 %".96", 0
  %".116" = sub i64 0, %".96"
  %".117" = select  i1 %".115", i64 %".116", i64 0
  %".118" = sub i64 8, %".96"
  %".119" = icmp slt i64 %".118", 8
  %".120" = select  i1 %".119", i64 %".118", i64 8
  %".121" = icmp slt i64 %".97", 0
  %".122" = sub i64 0, %".97"
  %".123" = select  i1 %".121", i64 %".122", i64 0
  %".124" = sub i64 16, %".97"
  %".125" = icmp slt i64 %".124", 16
  %".126" = select  i1 %".125", i64 %".124", i64 16
  br label %"loop.4"
loop.4:
  %"i.4" = phi  i64 [%".117", %"done.3"], [%".145", %"done.5"]
  %".128" = icmp slt i64 %"i.4", %".120"
  br i1 %".128", label %"body.4", label %"done.4"
body.4:
  br label %"loop.5"
done.4:
  br label %"end.1"
loop.5:
  %"i.5" = phi  i64 [%".123", %"body.4"], [%".143", %"body.5"]
  %".131" = icmp slt i64 %"i.5", %".126"
  br i1 %".131", label %"body.5", label %"done.5"
body.5:
  %".133" = add i64 %".96", %"i.4"
  %".134" = add i64 %".97", %"i.5"
  %".135" = mul i64 %".133", 16
  %".136" = add i64 %".135", %".134"
  %".137" = getelementptr inbounds float, ptr %".22", i64 %".136"
  %".138" = load float, ptr %".137", align 4
  %".139" = mul i64 %"i.4", 16
  %".140" = add i64 %".139", %"i.5"
  %".141" = getelementptr inbounds float, ptr %".104", i64 %".140"
  store float %".138", ptr %".141", align 4
  %".143" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  %".145" = add i64 %"i.4", 1
  br label %"loop.4"
then.2:
  %".164" = getelementptr inbounds float, ptr %".161", i64 0
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".164", align 4
  %".166" = icmp slt i64 %".152", 0
  %".167" = sub i64 0, %".152"
  %".168" = select  i1 %".166", i64 %".167", i64 0
  %".169" = sub i64 1, %".152"
  %".170" = icmp slt i64 %".169", 1
  %".171" = select  i1 %".170", i64 %".169", i64 1
  %".172" = icmp slt i64 %".154", 0
  %".173" = sub i64 0, %".154"
  %".174" = select  i1 %".172", i64 %".173", i64 0
  %".175" = sub i64 16, %".154"
  %".176" = icmp slt i64 %".175", 16
  %".177" = select  i1 %".176", i64 %".175", i64 16
  br label %"loop.6"
end.2:
  %".199" = select  i1 %".157", ptr %".160", ptr %".161"
  %".200" = trunc i64 %".17" to i32
  %".201" = trunc i64 %".15" to i32
  %".202" = trunc i64 %".13" to i32
  %".203" = sext i32 %".200" to i64
  %".204" = sext i32 %".201" to i64
  %".205" = mul i64 %".203", 4
  %".206" = mul i64 %".204", 16
  %".207" = icmp ule i64 %".205", 0
  %".208" = icmp ule i64 %".206", 0
  %".209" = and i1 %".207", %".208"
  %".210" = mul i64 %".205", 16
  %".211" = add i64 %".210", %".206"
  %".212" = getelementptr float, ptr %".26", i64 %".211"
  %".213" = getelementptr i8, ptr %".3", i64 704
  %".214" = xor i1 %".209", -1
  br i1 %".214", label %"then.3", label %"end.3"
loop.6:
  %"i.6" = phi  i64 [%".168", %"then.2"], [%".196", %"done.7"]
  %".179" = icmp slt i64 %"i.6", %".171"
  br i1 %".179", label %"body.6", label %"done.6"
body.6:
  br label %"loop.7"
done.6:
  br label %"end.2"
loop.7:
  %"i.7" = phi  i64 [%".174", %"body.6"], [%".194", %"body.7"]
  %".182" = icmp slt i64 %"i.7", %".177"
  br i1 %".182", label %"body.7", label %"done.7"
body.7:
  %".184" = add i64 %".152", %"i.6"
  %".185" = add i64 %".154", %"i.7"
  %".186" = mul i64 %".184", 16
  %".187" = add i64 %".186", %".185"
  %".188" = getelementptr inbounds float, ptr %".24", i64 %".187"
  %".189" = load float, ptr %".188", align 4
  %".190" = mul i64 %"i.6", 16
  %".191" = add i64 %".190", %"i.7"
  %".192" = getelementptr inbounds float, ptr %".161", i64 %".191"
  store float %".189", ptr %".192", align 4
  %".194" = add i64 %"i.7", 1
  br label %"loop.7"
done.7:
  %".196" = add i64 %"i.6", 1
  br label %"loop.6"
then.3:
  br label %"loop.8"
end.3:
  %".257" = select  i1 %".209", ptr %".212", ptr %".213"
  %".258" = getelementptr i8, ptr %".3", i64 960
  %".259" = getelementptr i8, ptr %".3", i64 1472
  br label %"loop.11"
loop.8:
  %"i.8" = phi  i64 [0, %"then.3"], [%".222", %"body.8"]
  %".217" = icmp slt i64 %"i.8", 4
  br i1 %".217", label %"body.8", label %"done.8"
body.8:
  %".219" = mul i64 %"i.8", 16
  %".220" = getelementptr inbounds float, ptr %".213", i64 %".219"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".220", align 4
  %".222" = add i64 %"i.8", 1
  br label %"loop.8"
done.8:
  %".224" = icmp slt i64 %".205", 0
  %".225" = sub i64 0, %".205"
  %".226" = select  i1 %".224", i64 %".225", i64 0
  %".227" = sub i64 4, %".205"
  %".228" = icmp slt i64 %".227", 4
  %".229" = select  i1 %".228", i64 %".227", i64 4
  %".230" = icmp slt i64 %".206", 0
  %".231" = sub i64 0, %".206"
  %".232" = select  i1 %".230", i64 %".231", i64 0
  %".233" = sub i64 16, %".206"
  %".234" = icmp slt i64 %".233", 16
  %".235" = select  i1 %".234", i64 %".233", i64 16
  br label %"loop.9"
loop.9:
  %"i.9" = phi  i64 [%".226", %"done.8"], [%".254", %"done.10"]
  %".237" = icmp slt i64 %"i.9", %".229"
  br i1 %".237", label %"body.9", label %"done.9"
body.9:
  br label %"loop.10"
done.9:
  br label %"end.3"
loop.10:
  %"i.10" = phi  i64 [%".232", %"body.9"], [%".252", %"body.10"]
  %".240" = icmp slt i64 %"i.10", %".235"
  br i1 %".240", label %"body.10", label %"done.10"
body.10:
  %".242" = add i64 %".205", %"i.9"
  %".243" = add i64 %".206", %"i.10"
  %".244" = mul i64 %".242", 16
  %".245" = add i64 %".244", %".243"
  %".246" = getelementptr inbounds float, ptr %".26", i64 %".245"
  %".247" = load float, ptr %".246", align 4
  %".248" = mul i64 %"i.9", 16
  %".249" = add i64 %".248", %"i.10"
  %".250" = getelementptr inbounds float, ptr %".213", i64 %".249"
  store float %".247", ptr %".250", align 4
  %".252" = add i64 %"i.10", 1
  br label %"loop.10"
done.10:
  %".254" = add i64 %"i.9", 1
  br label %"loop.9"
loop.11:
  %"i.11" = phi  i64 [0, %"end.3"], [%".343", %"done.12"]
  %".261" = icmp slt i64 %"i.11", 16
  br i1 %".261", label %"body.11", label %"done.11"
body.11:
  br label %"k"
done.11:
  br i1 %".214", label %"then.4", label %"end.4"
k:
  %".264" = phi  i64 [0, %"body.11"], [%".305", %"k.body"]
  %".265" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.11"], [%".286", %"k.body"]
  %".266" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.11"], [%".292", %"k.body"]
  %".267" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.11"], [%".298", %"k.body"]
  %".268" = phi  <16 x float> [<float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, %"body.11"], [%".304", %"k.body"]
  %".269" = icmp slt i64 %".264", 8
  br i1 %".269", label %"k.body", label %"k.done"
k.body:
  %".271" = add i64 %".264", 32
  %".272" = icmp slt i64 %".271", 7
  %".273" = select  i1 %".272", i64 %".271", i64 7
  %".274" = mul i64 %".273", 16
  %".275" = add i64 %".274", %"i.11"
  %".276" = getelementptr inbounds float, ptr %".148", i64 %".275"
  call void @"llvm.prefetch.p0"(ptr %".276", i32 0, i32 3, i32 1)
  %".278" = mul i64 %".264", 16
  %".279" = add i64 %".278", %"i.11"
  %".280" = getelementptr inbounds float, ptr %".148", i64 %".279"
  %".281" = load <16 x float>, ptr %".280", align 4
  %".282" = getelementptr inbounds float, ptr %".90", i64 %".264"
  %".283" = load float, ptr %".282", align 4
  %".284" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".283", i32 0
  %".285" = shufflevector <16 x float> %".284", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".286" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".285", <16 x float> %".281", <16 x float> %".265")
  %".287" = add i64 8, %".264"
  %".288" = getelementptr inbounds float, ptr %".90", i64 %".287"
  %".289" = load float, ptr %".288", align 4
  %".290" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".289", i32 0
  %".291" = shufflevector <16 x float> %".290", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".292" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".291", <16 x float> %".281", <16 x float> %".266")
  %".293" = add i64 16, %".264"
  %".294" = getelementptr inbounds float, ptr %".90", i64 %".293"
  %".295" = load float, ptr %".294", align 4
  %".296" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".295", i32 0
  %".297" = shufflevector <16 x float> %".296", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".298" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".297", <16 x float> %".281", <16 x float> %".267")
  %".299" = add i64 24, %".264"
  %".300" = getelementptr inbounds float, ptr %".90", i64 %".299"
  %".301" = load float, ptr %".300", align 4
  %".302" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".301", i32 0
  %".303" = shufflevector <16 x float> %".302", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".304" = call <16 x float> @"llvm.fma.v16f32"(<16 x float> %".303", <16 x float> %".281", <16 x float> %".268")
  %".305" = add i64 %".264", 1
  br label %"k"
k.done:
  %".307" = getelementptr inbounds float, ptr %".258", i64 0
  store <16 x float> %".265", ptr %".307", align 4
  %".309" = getelementptr inbounds float, ptr %".258", i64 32
  store <16 x float> %".266", ptr %".309", align 4
  %".311" = getelementptr inbounds float, ptr %".258", i64 64
  store <16 x float> %".267", ptr %".311", align 4
  %".313" = getelementptr inbounds float, ptr %".258", i64 96
  store <16 x float> %".268", ptr %".313", align 4
  br label %"loop.12"
loop.12:
  %"i.12" = phi  i64 [0, %"k.done"], [%".341", %"body.12"]
  %".316" = icmp slt i64 %"i.12", 4
  br i1 %".316", label %"body.12", label %"done.12"
body.12:
  %".318" = mul i64 %"i.12", 32
  %".319" = getelementptr inbounds float, ptr %".258", i64 %".318"
  %".320" = load <16 x float>, ptr %".319", align 4
  %".321" = getelementptr inbounds float, ptr %".199", i64 %"i.11"
  %".322" = load <16 x float>, ptr %".321", align 4
  %".323" = fadd <16 x float> %".320", %".322"
  %".324" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float 0x3fa2444f20000000, i32 0
  %".325" = shufflevector <16 x float> %".324", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".326" = fmul <16 x float> %".323", %".325"
  %".327" = fmul <16 x float> %".326", %".323"
  %".328" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float 0x3fe9884540000000, i32 0
  %".329" = shufflevector <16 x float> %".328", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".330" = fadd <16 x float> %".327", %".329"
  %".331" = fmul <16 x float> %".323", %".330"
  %".332" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float 0x4000000000000000, i32 0
  %".333" = shufflevector <16 x float> %".332", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".334" = fmul <16 x float> %".331", %".333"
  %".335" = call <16 x float> @"tilewright.logistic.v16f32"(<16 x float> %".334")
  %".336" = fmul <16 x float> %".323", %".335"
  %".337" = mul i64 %"i.12", 16
  %".338" = add i64 %".337", %"i.11"
  %".339" = getelementptr inbounds float, ptr %".257", i64 %".338"
  store <16 x float> %".336", ptr %".339", align 4
  %".341" = add i64 %"i.12", 1
  br label %"loop.12"
done.12:
  %".343" = add i64 %"i.11", 16
  br label %"loop.11"
then.4:
  %".346" = icmp slt i64 %".205", 0
  %".347" = sub i64 0, %".205"
  %".348" = select  i1 %".346", i64 %".347", i64 0
  %".349" = sub i64 4, %".205"
  %".350" = icmp slt i64 %".349", 4
  %".351" = select  i1 %".350", i64 %".349", i64 4
  %".352" = icmp slt i64 %".206", 0
  %".353" = sub i64 0, %".206"
  %".354" = select  i1 %".352", i64 %".353", i64 0
  %".355" = sub i64 16, %".206"
  %".356" = icmp slt i64 %".355", 16
  %".357" = select  i1 %".356", i64 %".355", i64 16
  br label %"loop.13"
end.4:
  ret void
loop.13:
  %"i.13" = phi  i64 [%".348", %"then.4"], [%".376", %"done.14"]
  %".359" = icmp slt i64 %"i.13", %".351"
  br i1 %".359", label %"body.13", label %"done.13"
body.13:
  br label %"loop.14"
done.13:
  br label %"end.4"
loop.14:
  %"i.14" = phi  i64 [%".354", %"body.13"], [%".374", %"body.14"]
  %".362" = icmp slt i64 %"i.14", %".357"
  br i1 %".362", label %"body.14", label %"done.14"
body.14:
  %".364" = add i64 %".205", %"i.13"
  %".365" = add i64 %".206", %"i.14"
  %".366" = mul i64 %"i.13", 16
  %".367" = add i64 %".366", %"i.14"
  %".368" = getelementptr inbounds float, ptr %".213", i64 %".367"
  %".369" = load float, ptr %".368", align 4
  %".370" = mul i64 %".364", 16
  %".371" = add i64 %".370", %".365"
  %".372" = getelementptr inbounds float, ptr %".26", i64 %".371"
  store float %".369", ptr %".372", align 4
  %".374" = add i64 %"i.14", 1
  br label %"loop.14"
done.14:
  %".376" = add i64 %"i.13", 1
  br label %"loop.13"
}
