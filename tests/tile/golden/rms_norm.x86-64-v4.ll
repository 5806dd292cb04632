; x86-64-v4
define internal void @"point"(ptr %".1", ptr %".2", ptr noalias %".3", i64 %".4")
{
entry:
  %".176" = alloca <16 x float>
  %".177" = alloca <16 x float>
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
  %".16" = trunc i64 %".8" to i32
  %".17" = trunc i64 %".7" to i32
  %".18" = trunc i64 %".8" to i32
  %".19" = sext i32 %".18" to i64
  %".20" = sext i32 0 to i64
  %".21" = mul i64 %".19", 4
  %".22" = mul i64 %".20", 32
  %".23" = icmp ule i64 %".21", 0
  %".24" = icmp ule i64 %".22", 0
  %".25" = and i1 %".23", %".24"
  %".26" = mul i64 %".21", 32
  %".27" = add i64 %".26", %".22"
  %".28" = getelementptr float, ptr %".11", i64 %".27"
  %".29" = getelementptr i8, ptr %".3", i64 0
  %".30" = xor i1 %".25", -1
  br i1 %".30", label %"then", label %"end"
then:
  br label %"loop"
end:
  %".79" = select  i1 %".25", ptr %".28", ptr %".29"
  %".80" = trunc i64 %".8" to i32
  %".81" = sext i32 0 to i64
  %".82" = mul i64 %".81", 32
  %".83" = icmp ule i64 %".82", 0
  %".84" = getelementptr float, ptr %".13", i64 %".82"
  %".85" = getelementptr i8, ptr %".3", i64 512
  %".86" = xor i1 %".83", -1
  br i1 %".86", label %"then.1", label %"end.1"
loop:
  %"i" = phi  i64 [0, %"then"], [%".44", %"done.1"]
  %".33" = icmp slt i64 %"i", 4
  br i1 %".33", label %"body", label %"done"
body:
  br label %"loop.1"
done:
  %".46" = icmp slt i64 %".21", 0
  %".47" = sub i64 0, %".21"
  %".48" = select  i1 %".46", i64 %".47", i64 0
  %".49" = sub i64 4, %".21"
  %".50" = icmp slt i64 %".49", 4
  %".51" = select  i1 %".50", i64 %".49", i64 4
  %".52" = icmp slt i64 %".22", 0
  %".53" = sub i64 0, %".22"
  %".54" = select  i1 %".52", i64 %".53", i64 0
  %".55" = sub i64 32, %".22"
  %".56" = icmp slt i64 %".55", 32
  %".57" = select  i1 %".56", i64 %".55", i64 32
  br label %"loop.2"
loop.1:
  %"i.1" = phi  i64 [0, %"body"], [%".42", %"body.1"]
  %".36" = icmp slt i64 %"i.1", 32
  br i1 %".36", label %"body.1", label %"done.1"
body.1:
  %".38" = mul i64 %"i", 32
  %".39" = add i64 %".38", %"i.1"
  %".40" = getelementptr inbounds float, ptr %".29", i64 %".39"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".40", align 4
  %".42" = add i64 %"i.1", 16
  br label %"loop.1"
done.1:
  %".44" = add i64 %"i", 1
  br label %"loop"
loop.2:
  %"i.2" = phi  i64 [%".48", %"done"], [%".76", %"done.3"]
  %".59" = icmp slt i64 %"i.2", %".51"
  br i1 %".59", label %"body.2", label %"done.2"
body.2:
  br label %"loop.3"
done.2:
  br label %"end"
loop.3:
  %"i.3" = phi  i64 [%".54", %"body.2"], [%".74", %"body.3"]
  %".62" = icmp slt i64 %"i.3", %".57"
  br i1 %".62", label %"body.3", label %"done.3"
body.3:
  %".64" = add i64 %".21", %"i.2"
  %".65" = add i64 %".22", %"i.3"
  %".66" = mul i64 %".64", 32
  %".67" = add i64 %".66", %".65"
  %".68" = getelementptr inbounds float, ptr %".11", i64 %".67"
  %".69" = load float, ptr %".68", align 4
  %".70" = mul i64 %"i.2", 32
  %".71" = add i64 %".70", %"i.3"
  %".72" = getelementptr inbounds float, ptr %".29", i64 %".71"
  store float %".69", ptr %".72", align 4
  %".74" = add i64 %"i.3", 1
  br label %"loop.3"
done.3:
  %".76" = add i64 %"i.2", 1
  br label %"loop.2"
then.1:
  br label %"loop.4"
end.1:
  %".112" = select  i1 %".83", ptr %".84", ptr %".85"
  %".113" = trunc i64 %".8" to i32
  %".114" = sext i32 %".113" to i64
  %".115" = sext i32 0 to i64
  %".116" = mul i64 %".114", 4
  %".117" = mul i64 %".115", 32
  %".118" = icmp ule i64 %".116", 0
  %".119" = icmp ule i64 %".117", 0
  %".120" = and i1 %".118", %".119"
  %".121" = mul i64 %".116", 32
  %".122" = add i64 %".121", %".117"
  %".123" = getelementptr float, ptr %".15", i64 %".122"
  %".124" = getelementptr i8, ptr %".3", i64 640
  %".125" = xor i1 %".120", -1
  br i1 %".125", label %"then.2", label %"end.2"
loop.4:
  %"i.4" = phi  i64 [0, %"then.1"], [%".93", %"body.4"]
  %".89" = icmp slt i64 %"i.4", 32
  br i1 %".89", label %"body.4", label %"done.4"
body.4:
  %".91" = getelementptr inbounds float, ptr %".85", i64 %"i.4"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".91", align 4
  %".93" = add i64 %"i.4", 16
  br label %"loop.4"
done.4:
  %".95" = icmp slt i64 %".82", 0
  %".96" = sub i64 0, %".82"
  %".97" = select  i1 %".95", i64 %".96", i64 0
  %".98" = sub i64 32, %".82"
  %".99" = icmp slt i64 %".98", 32
  %".100" = select  i1 %".99", i64 %".98", i64 32
  br label %"loop.5"
loop.5:
  %"i.5" = phi  i64 [%".97", %"done.4"], [%".109", %"body.5"]
  %".102" = icmp slt i64 %"i.5", %".100"
  br i1 %".102", label %"body.5", label %"done.5"
body.5:
  %".104" = add i64 %".82", %"i.5"
  %".105" = getelementptr inbounds float, ptr %".13", i64 %".104"
  %".106" = load float, ptr %".105", align 4
  %".107" = getelementptr inbounds float, ptr %".85", i64 %"i.5"
  store float %".106", ptr %".107", align 4
  %".109" = add i64 %"i.5", 1
  br label %"loop.5"
done.5:
  br label %"end.1"
then.2:
  br label %"loop.6"
end.2:
  %".174" = select  i1 %".120", ptr %".123", ptr %".124"
  %".175" = getelementptr i8, ptr %".3", i64 1152
  br label %"loop.10"
loop.6:
  %"i.6" = phi  i64 [0, %"then.2"], [%".139", %"done.7"]
  %".128" = icmp slt i64 %"i.6", 4
  br i1 %".128", label %"body.6", label %"done.6"
body.6:
  br label %"loop.7"
done.6:
  %".141" = icmp slt i64 %".116", 0
  %".142" = sub i64 0, %".116"
  %".143" = select  i1 %".141", i64 %".142", i64 0
  %".144" = sub i64 4, %".116"
  %".145" = icmp slt i64 %".144", 4
  %".146" = select  i1 %".145", i64 %".144", i64 4
  %".147" = icmp slt i64 %".117", 0
  %".148" = sub i64 0, %".117"
  %".149" = select  i1 %".147", i64 %".148", i64 0
  %".150" = sub i64 32, %".117"
  %".151" = icmp slt i64 %".150", 32
  %".152" = select  i1 %".151", i64 %".150", i64 32
  br label %"loop.8"
loop.7:
  %"i.7" = phi  i64 [0, %"body.6"], [%".137", %"body.7"]
  %".131" = icmp slt i64 %"i.7", 32
  br i1 %".131", label %"body.7", label %"done.7"
body.7:
  %".133" = mul i64 %"i.6", 32
  %".134" = add i64 %".133", %"i.7"
  %".135" = getelementptr inbounds float, ptr %".124", i64 %".134"
  store <16 x float> <float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000, float 0x7ff8000000000000>, ptr %".135", align 4
  %".137" = add i64 %"i.7", 16
  br label %"loop.7"
done.7:
  %".139" = add i64 %"i.6", 1
  br label %"loop.6"
loop.8:
  %"i.8" = phi  i64 [%".143", %"done.6"], [%".171", %"done.9"]
  %".154" = icmp slt i64 %"i.8", %".146"
  br i1 %".154", label %"body.8", label %"done.8"
body.8:
  br label %"loop.9"
done.8:
  br label %"end.2"
loop.9:
  %"i.9" = phi  i64 [%".149", %"body.8"], [%".169", %"body.9"]
  %".157" = icmp slt i64 %"i.9", %".152"
  br i1 %".157", label %"body.9", label %"done.9"
body.9:
  %".159" = add i64 %".116", %"i.8"
  %".160" = add i64 %".117", %"i.9"
  %".161" = mul i64 %".159", 32
  %".162" = add i64 %".161", %".160"
  %".163" = getelementptr inbounds float, ptr %".15", i64 %".162"
  %".164" = load float, ptr %".163", align 4
  %".165" = mul i64 %"i.8", 32
  %".166" = add i64 %".165", %"i.9"
  %".167" = getelementptr inbounds float, ptr %".124", i64 %".166"
  store float %".164", ptr %".167", align 4
  %".169" = add i64 %"i.9", 1
  br label %"loop.9"
done.9:
  %".171" = add i64 %"i.8", 1
  br label %"loop.8"
loop.10:
  %"i.10" = phi  i64 [0, %"end.2"], [%".224", %"done.11"]
  %".179" = icmp slt i64 %"i.10", 4
  br i1 %".179", label %"body.10", label %"done.10"
body.10:
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".176"
  store <16 x float> <float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0, float              0x0>, <16 x float>* %".177"
  br label %"loop.11"
done.10:
  br label %"loop.12"
loop.11:
  %"i.11" = phi  i64 [0, %"body.10"], [%".203", %"body.11"]
  %".184" = icmp slt i64 %"i.11", 32
  br i1 %".184", label %"body.11", label %"done.11"
body.11:
  %".186" = mul i64 %"i.10", 32
  %".187" = add i64 %".186", %"i.11"
  %".188" = getelementptr inbounds float, ptr %".79", i64 %".187"
  %".189" = load <16 x float>, ptr %".188", align 4
  %".190" = fmul <16 x float> %".189", %".189"
  %".191" = load <16 x float>, <16 x float>* %".176"
  %".192" = fadd <16 x float> %".191", %".190"
  store <16 x float> %".192", <16 x float>* %".176"
  %".194" = add i64 %"i.11", 16
  %".195" = mul i64 %"i.10", 32
  %".196" = add i64 %".195", %".194"
  %".197" = getelementptr inbounds float, ptr %".79", i64 %".196"
  %".198" = load <16 x float>, ptr %".197", align 4
  %".199" = fmul <16 x float> %".198", %".198"
  %".200" = load <16 x float>, <16 x float>* %".177"
  %".201" = fadd <16 x float> %".200", %".199"
  store <16 x float> %".201", <16 x float>* %".177"
  %".203" = add i64 %"i.11", 32
  br label %"loop.11"
done.11:
  %".205" = load <16 x float>, <16 x float>* %".176"
  %".206" = load <16 x float>, <16 x float>* %".177"
  %".207" = fadd <16 x float> %".205", %".206"
  %".208" = shufflevector <16 x float> %".207", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %".209" = shufflevector <16 x float> %".207", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %".210" = fadd <8 x float> %".208", %".209"
  %".211" = shufflevector <8 x float> %".210", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %".212" = shufflevector <8 x float> %".210", <8 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %".213" = fadd <4 x float> %".211", %".212"
  %".214" = shufflevector <4 x float> %".213", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 0, i32 1>
  %".215" = shufflevector <4 x float> %".213", <4 x float> <float undef, float undef, float undef, float undef>, <2 x i32> <i32 2, i32 3>
  %".216" = fadd <2 x float> %".214", %".215"
  %".217" = shufflevector <2 x float> %".216", <2 x float> <float undef, float undef>, <1 x i32> <i32 0>
  %".218" = shufflevector <2 x float> %".216", <2 x float> <float undef, float undef>, <1 x i32> <i32 1>
  %".219" = extractelement <1 x float> %".217", i32 0
  %".220" = extractelement <1 x float> %".218", i32 0
  %".221" = fadd float %".219", %".220"
  %".222" = getelementptr inbounds float, ptr %".175", i64 %"i.10"
  store float %".221", ptr %".222", align 4
  %".224" = add i64 %"i.10", 1
  br label %"loop.10"
loop.12:
  %"i.12" = phi  i64 [0, %"done.10"], [%".254", %"done.13"]
  %".227" = icmp slt i64 %"i.12", 4
  br i1 %".227", label %"body.12", label %"done.12"
body.12:
  %".229" = getelementptr inbounds float, ptr %".175", i64 %"i.12"
  %".230" = load float, ptr %".229", align 4
  %".231" = fmul float %".230", 0x3fa0000000000000
  %".232" = fadd float %".231", 0x3eb0c6f7a0000000
  %".233" = call float @"llvm.sqrt.f32"(float %".232")
  %".234" = fdiv float 0x3ff0000000000000, %".233"
  br label %"loop.13"
done.12:
  br i1 %".125", label %"then.3", label %"end.3"
loop.13:
  %"i.13" = phi  i64 [0, %"body.12"], [%".252", %"body.13"]
  %".236" = icmp slt i64 %"i.13", 32
  br i1 %".236", label %"body.13", label %"done.13"
body.13:
  %".238" = mul i64 %"i.12", 32
  %".239" = add i64 %".238", %"i.13"
  %".240" = getelementptr inbounds float, ptr %".79", i64 %".239"
  %".241" = load <16 x float>, ptr %".240", align 4
  %".242" = insertelement <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, float %".234", i32 0
  %".243" = shufflevector <16 x float> %".242", <16 x float> <float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef, float undef>, <16 x i32> <i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0, i32 0>
  %".244" = fmul <16 x float> %".241", %".243"
  %".245" = getelementptr inbounds float, ptr %".112", i64 %"i.13"
  %".246" = load <16 x float>, ptr %".245", align 4
  %".247" = fmul <16 x float> %".244", %".246"
  %".248" = mul i64 %"i.12", 32
  %".249" = add i64 %".248", %"i.13"
  %".250" = getelementptr inbounds float, ptr %".174", i64 %".249"
  store <16 x float> %".247", ptr %".250", align 4
  %".252" = add i64 %"i.13", 16
  br label %"loop.13"
done.13:
  %".254" = add i64 %"i.12", 1
  br label %"loop.12"
then.3:
  %".257" = icmp slt i64 %".116", 0
  %".258" = sub i64 0, %".116"
  %".259" = select  i1 %".257", i64 %".258", i64 0
  %".260" = sub i64 4, %".116"
  %".261" = icmp slt i64 %".260", 4
  %".262" = select  i1 %".261", i64 %".260", i64 4
  %".263" = icmp slt i64 %".117", 0
  %".264" = sub i64 0, %".117"
  %".265" = select  i1 %".263", i64 %".264", i64 0
  %".266" = sub i64 32, %".117"
  %".267" = icmp slt i64 %".266", 32
  %".268" = select  i1 %".267", i64 %".266", i64 32
  br label %"loop.14"
end.3:
  ret void
loop.14:
  %"i.14" = phi  i64 [%".259", %"then.3"], [%".287", %"done.15"]
  %".270" = icmp slt i64 %"i.14", %".262"
  br i1 %".270", label %"body.14", label %"done.14"
body.14:
  br label %"loop.15"
done.14:
  br label %"end.3"
loop.15:
  %"i.15" = phi  i64 [%".265", %"body.14"], [%".285", %"body.15"]
  %".273" = icmp slt i64 %"i.15", %".268"
  br i1 %".273", label %"body.15", label %"done.15"
body.15:
  %".275" = add i64 %".116", %"i.14"
  %".276" = add i64 %".117", %"i.15"
  %".277" = mul i64 %"i.14", 32
  %".278" = add i64 %".277", %"i.15"
  %".279" = getelementptr inbounds float, ptr %".124", i64 %".278"
  %".280" = load float, ptr %".279", align 4
  %".281" = mul i64 %".275", 32
  %".282" = add i64 %".281", %".276"
  %".283" = getelementptr inbounds float, ptr %".15", i64 %".282"
  store float %".280", ptr %".283", align 4
  %".285" = add i64 %"i.15", 1
  br label %"loop.15"
done.15:
  %".287" = add i64 %"i.14", 1
  br label %"loop.14"
}
